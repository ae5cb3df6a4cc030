// From the scene's JSON schema to controls: a parameter is declared once, in the engine.
import { schema } from "./state.js";

/** Follows references; what stands beside a reference wins. */
export function resolve(node) {
  let found = node;
  for (let depth = 0; found?.$ref && depth < 8; depth += 1) {
    const target = found.$ref.slice(2).split("/").reduce((at, key) => at?.[key], schema.value);
    const { $ref, ...beside } = found;
    found = { ...target, ...beside };
  }
  return found ?? {};
}

/** The alternatives of a node that are not null. */
function alternatives(node) {
  return (node.anyOf ?? node.oneOf ?? []).map(resolve).filter(x => x.type !== "null");
}

const types = node => [].concat(node.type ?? []);

/** What kind of control a node asks for. */
export function controlOf(raw) {
  const node = resolve(raw);
  const options = alternatives(node);
  if (options.length === 1 && !node.properties) {
    const only = controlOf(options[0]);
    return { ...only, description: node.description ?? only.description, optional: true };
  }
  const base = {
    description: node.description ?? "", default: node.default,
    change: node["x-change"], group: node["x-group"], slider: node["x-slider"], log: node["x-log"] === true,
    minimum: node.minimum, maximum: node.maximum, optional: types(node).includes("null"),
  };
  const words = options.filter(x => typeof x.const === "string" || x.enum);
  if (words.length && words.length === options.length) {
    const choices = words.flatMap(x => x.enum ? x.enum.map(e => ({ value: e, about: x.description })) : [{ value: x.const, about: x.description }]);
    return { ...base, kind: "choice", choices };
  }
  if (words.length > 1) {
    return { ...base, kind: "choice", choices: words.map(x => ({ value: x.const, about: x.description })), open: true };
  }
  if (node.enum) return { ...base, kind: "choice", choices: node.enum.map(value => ({ value })) };
  const kinds = types(node);
  if (kinds.includes("boolean")) return { ...base, kind: "boolean" };
  if (kinds.includes("integer")) return { ...base, kind: "number", whole: true };
  if (kinds.includes("number")) return { ...base, kind: "number", animated: node["x-animated"] === true };
  if (kinds.includes("string")) return { ...base, kind: "text" };
  if (kinds.includes("array")) {
    const item = resolve(node.items ?? {});
    const count = node.minItems === node.maxItems ? node.minItems : undefined;
    if (count && count <= 4 && types(item).some(t => t === "number" || t === "integer")) {
      return { ...base, kind: "vector", count, whole: types(item).includes("integer") };
    }
    if (item.prefixItems?.length === 2 && item.prefixItems.every(x => types(resolve(x)).includes("number"))) return { ...base, kind: "pairs" };
    if (item.properties || item.oneOf) return { ...base, kind: "list", item };
    return { ...base, kind: "raw" };
  }
  if (node.properties) return { ...base, kind: "table", properties: node.properties };
  return { ...base, kind: "raw" };
}

/** The parameters of a layer's kind. */
export function layerSchema(kind) {
  const all = resolve(schema.value?.$defs?.LayerParams ?? {});
  const found = (all.oneOf ?? []).find(x => x.properties?.[kind]);
  return found ? resolve(found.properties[kind]) : null;
}

/** The unit in brackets that a description names, and the rest of it. */
export function unitOf(description) {
  const unit = description.match(/\[([^\]]{1,18})\]/)?.[1] ?? "";
  return unit === "-" ? "" : unit;
}

/** A name as a person would write it. */
export const words = name => name.replace(/_(hz|deg|s)$/, "").replaceAll("_", " ");

/** A useful range for a slider: what is declared, or decades around the value. */
export function sliderRange(control, value) {
  if (control.slider) return { low: control.slider[0], high: control.slider[1], log: control.log && control.slider[0] > 0 };
  const { minimum, maximum } = control;
  if (minimum !== undefined && maximum !== undefined && maximum - minimum <= 1000) return { low: minimum, high: maximum, log: false };
  const size = Math.abs(Number(value) || Number(control.default) || 1);
  const low = Math.max(minimum ?? -Infinity, minimum !== undefined && minimum >= 0 ? Math.max(minimum, size / 10) : -10 * size);
  const high = Math.min(maximum ?? Infinity, size * 10);
  return { low, high, log: low > 0 };
}

/** Few digits, but all that matter. */
export function tidy(value, whole) {
  if (whole) return Math.round(value);
  return Number(Number(value).toPrecision(4));
}
