// Everything of others that the page uses, and nothing else of it.
export {
  ACESFilmicToneMapping, AmbientLight, Box3, BufferAttribute, BufferGeometry, CapsuleGeometry, Clock, Color,
  DataTexture, DirectionalLight, DoubleSide, DynamicDrawUsage, Float32BufferAttribute, GridHelper, Group,
  HemisphereLight, IcosahedronGeometry, InstancedBufferAttribute, InstancedBufferGeometry, InstancedMesh,
  LineBasicMaterial, LineSegments, Line, LinearSRGBColorSpace, Matrix4, Mesh, MeshBasicMaterial,
  MeshPhysicalMaterial, MeshStandardMaterial, NoToneMapping, Object3D, PerspectiveCamera, PlaneGeometry, Plane,
  PMREMGenerator, Quaternion, Raycaster, RepeatWrapping, RGBAFormat, Scene, ShaderMaterial, ShadowMaterial,
  SphereGeometry, SRGBColorSpace, BoxGeometry, BackSide, FrontSide, Vector2, Vector3, Vector4, WebGLRenderer,
  PCFSoftShadowMap, PCFShadowMap, LinearFilter, LinearMipmapLinearFilter, Sphere, UniformsUtils, UniformsLib,
} from "three";
export { OrbitControls } from "three/addons/controls/OrbitControls.js";
export { RoomEnvironment } from "three/addons/environments/RoomEnvironment.js";
export { TransformControls } from "three/addons/controls/TransformControls.js";
export { h, render, Fragment, createRef } from "preact";
export { useEffect, useRef, useState, useMemo, useLayoutEffect } from "preact/hooks";
export { signal, computed, effect, batch, untracked, useSignal, useComputed } from "@preact/signals";
export { html } from "htm/preact";
export { default as uPlot } from "uplot";
export { default as uPlotStyle } from "uplot/dist/uPlot.min.css";
