"""Characters for tests/large.sh: one of many triangles, one with a long clip.

  large_files.py FOLDER [TRIANGLES] [HOURS]     writes many.glb and long.glb

Both are a tube on four joints in a row, with weights that blend from joint to joint.
"""

import json
import math
import struct
import sys
from array import array
from pathlib import Path

JOINTS = 4
LENGTH = 1.6
RADIUS = 0.2
# Keys a second of the long clip: what motion capture is delivered in.
RATE = 30


class Glb:
    """A binary glTF, one accessor after another."""

    def __init__(self):
        self.bytes = bytearray()
        self.views = []
        self.accessors = []

    def add(self, values, component, kind, width, target=None, bounds=False):
        view = {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(values) * values.itemsize}
        if target:
            view["target"] = target
        accessor = {
            "bufferView": len(self.views),
            "componentType": component,
            "type": kind,
            "count": len(values) // width,
        }
        if bounds:
            columns = [values[k::width] for k in range(width)]
            accessor["min"] = [min(c) for c in columns]
            accessor["max"] = [max(c) for c in columns]
        self.bytes += values.tobytes()
        self.bytes += b"\0" * (-len(self.bytes) % 4)
        self.views.append(view)
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def write(self, path, document):
        document["asset"] = {"version": "2.0"}
        document["buffers"] = [{"byteLength": len(self.bytes)}]
        document["bufferViews"] = self.views
        document["accessors"] = self.accessors
        text = json.dumps(document).encode()
        text += b" " * (-len(text) % 4)
        size = 12 + 8 + len(text) + 8 + len(self.bytes)
        with open(path, "wb") as out:
            out.write(struct.pack("<4sII", b"glTF", 2, size))
            out.write(struct.pack("<II", len(text), 0x4E4F534A) + text)
            out.write(struct.pack("<II", len(self.bytes), 0x004E4942))
            out.write(self.bytes)


def tube(glb, triangles):
    """A mesh of about so many triangles, as attributes and indices."""
    around = max(8, round(math.sqrt(triangles / 4)))
    rows = max(4, round(triangles / 2 / around))
    positions, uvs, indices = array("f"), array("f"), array("I")
    joints, weights = array("H"), array("f")
    for row in range(rows + 1):
        along = row / rows
        # Between the middles of two joints the weight goes over from one to the other.
        at = min(max(along * JOINTS - 0.5, 0), JOINTS - 1)
        first = min(int(at), JOINTS - 2)
        share = at - first
        for column in range(around + 1):
            angle = 2 * math.pi * (column % around) / around
            positions.extend((RADIUS * math.cos(angle), LENGTH * along, RADIUS * math.sin(angle)))
            uvs.extend((column / around, along))
            joints.extend((first, first + 1, 0, 0))
            weights.extend((1 - share, share, 0, 0))
    width = around + 1
    for row in range(rows):
        for column in range(around):
            a = row * width + column
            indices.extend((a, a + width, a + 1, a + 1, a + width, a + width + 1))
    attributes = {
        "POSITION": glb.add(positions, 5126, "VEC3", 3, 34962, True),
        "TEXCOORD_0": glb.add(uvs, 5126, "VEC2", 2, 34962),
        "JOINTS_0": glb.add(joints, 5123, "VEC4", 4, 34962),
        "WEIGHTS_0": glb.add(weights, 5126, "VEC4", 4, 34962),
    }
    return {"primitives": [{"attributes": attributes, "indices": glb.add(indices, 5125, "SCALAR", 1, 34963)}]}


def swaying(glb, seconds):
    """A clip in which every joint sways."""
    keys = max(2, round(seconds * RATE) + 1)
    times = array("f", (k / RATE for k in range(keys)))
    input_ = glb.add(times, 5126, "SCALAR", 1, bounds=True)
    samplers, channels = [], []
    for joint in range(JOINTS):
        values = array("f")
        for k in range(keys):
            half = 0.15 * math.sin(2 * math.pi * (0.7 * k / RATE) + joint)
            values.extend((0.0, 0.0, math.sin(half), math.cos(half)))
        output = glb.add(values, 5126, "VEC4", 4)
        channels.append({"sampler": len(samplers), "target": {"node": 1 + joint, "path": "rotation"}})
        samplers.append({"input": input_, "output": output})
    return {"name": "sway", "samplers": samplers, "channels": channels}


def character(path, triangles, seconds):
    glb = Glb()
    mesh = tube(glb, triangles)
    inverse = array("f")
    for joint in range(JOINTS):
        up = -LENGTH * joint / JOINTS
        inverse.extend((1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, up, 0, 1))
    nodes = [{"name": "tube", "mesh": 0, "skin": 0}]
    for joint in range(JOINTS):
        node = {"name": f"joint_{joint + 1}", "translation": [0, LENGTH / JOINTS if joint else 0, 0]}
        if joint + 1 < JOINTS:
            node["children"] = [joint + 2]
        nodes.append(node)
    document = {
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": nodes,
        "meshes": [mesh],
        "skins": [{"joints": list(range(1, JOINTS + 1)), "inverseBindMatrices": glb.add(inverse, 5126, "MAT4", 16)}],
        "animations": [swaying(glb, seconds)],
    }
    glb.write(path, document)


def main():
    folder = Path(sys.argv[1])
    triangles = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    hours = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0
    character(folder / "many.glb", triangles, 2)
    character(folder / "long.glb", 800, 3600 * hours)


if __name__ == "__main__":
    main()
