// How hair and drops look.
import { ShaderMaterial, Color, DoubleSide, Vector3 } from "./third-party.js";

/** Two lobes of light along a fibre (Kajiya and Kay 1989; the second one tinted and shifted, after Marschner 2003). Told at the
 *  points of a hair, not at its pixels: those of a line that is one pixel wide are more than its points, and not less alike. */
export function hairMaterial(color, perStrand) {
  return new ShaderMaterial({
    uniforms: {
      colour: { value: new Color(color[0], color[1], color[2]) },
      lights: { value: [new Vector3(0.45, 0.75, 0.5), new Vector3(-0.7, 0.35, 0.3), new Vector3(0.1, 0.35, -0.9)].map(v => v.normalize()) },
      powers: { value: [1.5, 0.6, 0.7] },
      perStrand: { value: Math.max(1, perStrand) },
      painted: { value: 0 },
    },
    vertexShader: `
      attribute vec4 tangent; attribute vec3 paint; uniform int perStrand; uniform float painted;
      uniform vec3 colour; uniform vec3 lights[3]; uniform float powers[3];
      varying vec3 vLight;
      void main() {
        vec4 world = modelMatrix * vec4(position, 1.0);
        vec3 t = normalize(mat3(modelMatrix) * tangent.xyz); vec3 v = normalize(cameraPosition - world.xyz);
        float along = tangent.w < 0.0 ? tangent.w + 2.0 : tangent.w;
        // Strands differ a little, so that they can be told apart.
        float shade = 0.78 + 0.44 * fract(sin(float(gl_VertexID / perStrand) * 12.9898) * 43758.5453);
        float tv = dot(t, v); float sv = sqrt(max(0.0, 1.0 - tv * tv));
        vec3 base = colour * shade;
        vec3 sum = base * 0.22;
        for (int i = 0; i < 3; i++) {
          float tl = dot(t, lights[i]); float sl = sqrt(max(0.0, 1.0 - tl * tl));
          float first = pow(clamp(sl * sv - (tl + 0.09) * tv, 0.0, 1.0), 60.0);
          float second = pow(clamp(sl * sv - (tl - 0.16) * tv, 0.0, 1.0), 14.0);
          sum += powers[i] * (base * sl * 0.42 + vec3(0.1) * first + (0.16 * sqrt(base) + base) * 0.4 * second);
        }
        // Colours that mean something are not shaded: the roots would look less deep.
        vLight = mix(sum * mix(0.35, 1.0, smoothstep(0.0, 0.3, along * 0.5)), paint, painted);
        gl_Position = projectionMatrix * viewMatrix * world;
      }`,
    fragmentShader: `
      varying vec3 vLight;
      void main() {
        gl_FragColor = vec4(vLight, 1.0);
        #include <tonemapping_fragment>
        #include <colorspace_fragment>
      }`,
  });
}

/** A drop: what lies behind it seen upside down through it, a bright window on it, a dark rim. */
export function dropMaterial() {
  return new ShaderMaterial({
    transparent: true,
    depthWrite: true,
    side: DoubleSide,
    uniforms: { sky: { value: new Color(0.92, 0.95, 1.0) }, earth: { value: new Color(0.34, 0.31, 0.29) } },
    vertexShader: `
      attribute vec4 drop;
      varying vec3 vNormal; varying vec3 vView;
      void main() {
        vec4 centre = modelMatrix * vec4(drop.xyz, 1.0);
        vec3 world = centre.xyz + position * drop.w;
        vNormal = position; vView = cameraPosition - world;
        gl_Position = projectionMatrix * viewMatrix * vec4(world, 1.0);
      }`,
    fragmentShader: `
      uniform vec3 sky; uniform vec3 earth;
      varying vec3 vNormal; varying vec3 vView;
      vec3 around(vec3 d) {
        vec3 c = mix(earth, sky, smoothstep(-0.35, 0.55, d.y));
        float window = smoothstep(0.86, 0.93, dot(d, normalize(vec3(0.45, 0.75, 0.5))));
        return c + vec3(2.2) * window;
      }
      void main() {
        vec3 n = normalize(vNormal); vec3 v = normalize(vView);
        float c = max(0.0, dot(n, v));
        float fresnel = 0.02 + 0.98 * pow(1.0 - c, 5.0);
        vec3 inside = refract(-v, n, 1.0 / 1.33);
        vec3 through = around(refract(inside, -reflect(inside, n), 1.33) + inside * 0.001);
        vec3 colour = mix(through * 0.75, around(reflect(-v, n)), fresnel);
        gl_FragColor = vec4(colour, mix(0.42, 0.95, max(fresnel, pow(1.0 - c, 2.0))));
        #include <tonemapping_fragment>
        #include <colorspace_fragment>
      }`,
  });
}

/** A surface of something clear, lying on what is seen through it: mirrored sky and sun, a dark rim, and the light that it
 *  gathers on the side away from the sun. What is behind is not drawn twice, as true refraction would ask for. */
export function clearMaterial(material) {
  const [r, g, b] = material.color;
  const f0 = ((material.ior - 1) / (material.ior + 1)) ** 2;
  return new ShaderMaterial({
    transparent: true,
    side: DoubleSide,
    uniforms: {
      sky: { value: new Color(0.92, 0.95, 1.0) }, earth: { value: new Color(0.34, 0.31, 0.29) }, tint: { value: new Color(r, g, b) },
      clear: { value: material.transmission }, f0: { value: f0 }, sun: { value: new Vector3(0.45, 0.75, 0.5).normalize() },
    },
    vertexShader: `
      varying vec3 vNormal; varying vec3 vView;
      void main() {
        vec4 world = modelMatrix * vec4(position, 1.0);
        vNormal = normal; vView = cameraPosition - world.xyz;
        gl_Position = projectionMatrix * viewMatrix * world;
      }`,
    fragmentShader: `
      uniform vec3 sky; uniform vec3 earth; uniform vec3 tint; uniform vec3 sun; uniform float clear; uniform float f0;
      varying vec3 vNormal; varying vec3 vView;
      vec3 around(vec3 d) {
        return mix(earth, sky, smoothstep(-0.35, 0.55, d.y)) + vec3(9.0) * smoothstep(0.90, 0.96, dot(d, sun));
      }
      void main() {
        vec3 v = normalize(vView); vec3 n = normalize(vNormal);
        n = dot(n, v) < 0.0 ? -n : n;
        float c = dot(n, v);
        float mirrored = f0 + (1.0 - f0) * pow(1.0 - c, 5.0);
        float rim = 0.55 * pow(1.0 - c, 1.6);
        vec3 side = n - c * v; vec3 light = sun - dot(sun, v) * v;
        float gathered = clear * max(0.0, -dot(side, light) / max(1e-3, length(light))) * 0.8 * c;
        float lit = 0.35 + 0.65 * max(0.0, dot(n, sun));
        vec3 sum = around(reflect(-v, n)) * mirrored + mix(tint, vec3(1.0), 0.6) * gathered + tint * lit * (1.0 - clear) + 0.04 * tint;
        float cover = clamp(mirrored + rim + 0.8 * gathered + (1.0 - clear) + 0.06, 0.0, 1.0);
        gl_FragColor = vec4(sum / cover, cover);
        #include <tonemapping_fragment>
        #include <colorspace_fragment>
      }`,
  });
}

/** Colours of a scale from low to high: dark blue, teal, sand, orange. */
const SCALE = [[0.05, 0.12, 0.36], [0.06, 0.45, 0.55], [0.86, 0.80, 0.55], [0.85, 0.35, 0.10]];
/** Compression blue, rest pale, stretch red. */
const BOTH_WAYS = [[0.05, 0.22, 0.65], [0.86, 0.86, 0.84], [0.72, 0.10, 0.06]];

function along(scale, t) {
  const at = Math.min(Math.max(t, 0), 1) * (scale.length - 1);
  const low = Math.min(Math.floor(at), scale.length - 2);
  return [0, 1, 2].map(i => scale[low][i] + (scale[low + 1][i] - scale[low][i]) * (at - low));
}
export const heat = t => along(SCALE, t);
export const strainColour = t => along(BOTH_WAYS, t);
const css = scale => `linear-gradient(to right, ${scale.map(c =>
  `rgb(${c.map(v => Math.round(255 * Math.pow(v, 1 / 2.2))).join(" ")})`).join(", ")})`;
export const heatBar = css(SCALE);
export const strainBar = css(BOTH_WAYS);
