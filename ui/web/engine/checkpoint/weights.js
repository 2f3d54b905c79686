// A model's tensors in the kernel's memory, laid out as kernel/forward.c reads
// them: matrices (in, out), queries, keys and values side by side, gate and up too.

import { ModelError, shown } from "../errors.js";
import { rotaryTables } from "./rotary.js";

/** @import { Kernel } from "../kernel.js" */
/** @import { Tensor } from "./safetensors.js" */
/** @import { Shape } from "./shape.js" */

const FLOAT_BYTES = 4;
/** Columns of a panel: a matrix lies panel by panel, then the columns left over. As forward.c. */
const COLUMNS = 8;

/** @typedef {{ place: number, step: number, column: number, inner: number, outer: number }} Target */

export class Weights {
  /**
   * @param {Kernel} kernel
   * @param {Shape} shape
   */
  constructor(kernel, shape) {
    this.kernel = kernel;
    this.shape = shape;
    /** @type {Map<string, Target>} where the matrices (outer, inner) of the files go, transposed */
    this.matrices = new Map();
    /** @type {Map<string, number>} where the norms go */
    this.norms = new Map();
    this.missing = new Set();
    this.head = this.matrix(shape.hidden, shape.vocabulary, [
      [shape.isTied ? "model.embed_tokens" : "lm_head", shape.vocabulary],
    ]);
    this.embedding = shape.isTied ? this.head : this.room(shape.vocabulary * shape.hidden);
    if (!shape.isTied) this.missing.add("model.embed_tokens.weight");
    this.norm = this.normPlace("model.norm");
    this.layers = this.kernel.allocate(shape.numLayers * 6 * FLOAT_BYTES);
    const layers = Array.from({ length: shape.numLayers }, (_, index) => this.layer(index));
    kernel.writeIntegers(this.layers, layers.flat());
    this.model = this.writeModel();
    const { cosines, sines } = rotaryTables(shape);
    this.cosines = this.written(cosines);
    this.sines = this.written(sines);
  }

  /** @param {number} count of floats */
  room(count) {
    return this.kernel.allocate(count * FLOAT_BYTES);
  }

  /** @param {Float32Array} values */
  written(values) {
    const place = this.room(values.length);
    this.kernel.floats(place, values.length).set(values);
    return place;
  }

  /**
   * One matrix of several that read the same.
   * @param {number} inner
   * @param {number} step
   * @param {[name: string, outer: number][]} parts
   */
  matrix(inner, step, parts) {
    const place = this.room(inner * step);
    let column = 0;
    for (const [name, outer] of parts) {
      this.matrices.set(`${name}.weight`, { place, step, column, inner, outer });
      this.missing.add(`${name}.weight`);
      column += outer;
    }
    return place;
  }

  /** @param {string} name */
  normPlace(name) {
    const place = this.room(this.shape.hidden);
    this.norms.set(`${name}.weight`, place);
    this.missing.add(`${name}.weight`);
    return place;
  }

  /**
   * @param {number} index
   * @returns {number[]} the places of its parts in the order of forward.c's Layer
   */
  layer(index) {
    const { hidden, numHeads, numKvHeads, headSize, width } = this.shape;
    const name = `model.layers.${index}`;
    const queries = numHeads * headSize;
    const keys = numKvHeads * headSize;
    return [
      this.normPlace(`${name}.input_layernorm`),
      this.matrix(hidden, queries + 2 * keys, [
        [`${name}.self_attn.q_proj`, queries],
        [`${name}.self_attn.k_proj`, keys],
        [`${name}.self_attn.v_proj`, keys],
      ]),
      this.matrix(queries, hidden, [[`${name}.self_attn.o_proj`, hidden]]),
      this.normPlace(`${name}.post_attention_layernorm`),
      this.matrix(hidden, 2 * width, [
        [`${name}.mlp.gate_proj`, width],
        [`${name}.mlp.up_proj`, width],
      ]),
      this.matrix(width, hidden, [[`${name}.mlp.down_proj`, hidden]]),
    ];
  }

  /** forward.c's Model. */
  writeModel() {
    const { kernel, shape } = this;
    const steps = shape.isTied ? [1, shape.vocabulary] : [shape.hidden, 1];
    const sizes = [shape.numLayers, shape.hidden, shape.numHeads, shape.numKvHeads, shape.headSize];
    const words = [
      this.embedding,
      this.norm,
      this.head,
      ...sizes,
      shape.width,
      shape.vocabulary,
      ...steps,
    ];
    const place = kernel.allocate((words.length + 1) * FLOAT_BYTES);
    kernel.writeIntegers(place, words);
    kernel.floats(place, words.length + 1)[words.length] = Math.sqrt(shape.hidden * shape.epsilon);
    return place;
  }

  /**
   * Take in a tensor of a file; one that the model does not need is passed over.
   * @param {string} name
   * @param {Tensor} tensor
   */
  take(name, tensor) {
    const { hidden, vocabulary, isTied } = this.shape;
    const matrix = this.matrices.get(name);
    const norm = this.norms.get(name);
    const isEmbedding = !isTied && name === "model.embed_tokens.weight";
    if (matrix) {
      this.expect(name, tensor, [matrix.outer, matrix.inner]);
      this.pack(tensor.bits(), matrix);
    } else if (norm !== undefined) {
      this.expect(name, tensor, [hidden]);
      const scale = new Float32Array(tensor.bits().buffer).map(
        (value) => value * Math.sqrt(hidden),
      );
      this.kernel.floats(norm, hidden).set(scale);
    } else if (isEmbedding) {
      this.expect(name, tensor, [vocabulary, hidden]);
      this.kernel.integers(this.embedding, vocabulary * hidden).set(tensor.bits());
    }
    this.missing.delete(name);
  }

  /**
   * @param {string} name
   * @param {Tensor} tensor
   * @param {number[]} shape
   */
  expect(name, tensor, shape) {
    if (tensor.shape.join() === shape.join()) return;
    throw new ModelError(
      `The weights are not those of config.json: ${shown(name)} is ${tensor.shape.join(" x ")}, not ${shape.join(" x ")}.`,
    );
  }

  /**
   * @param {Uint32Array} bits (outer, inner)
   * @param {Target} target
   */
  pack(bits, { place, step, column, inner, outer }) {
    const to = new Uint32Array(this.kernel.memory.buffer, place, inner * step);
    const numWhole = step - (step % COLUMNS);
    for (let o = 0; o < outer; o += 1) {
      const at = column + o;
      const isWhole = at < numWhole;
      const between = isWhole ? COLUMNS : step - numWhole;
      const inPanel = isWhole ? at % COLUMNS : at - numWhole;
      const start = (at - inPanel) * inner + inPanel;
      const from = o * inner;
      for (let i = 0; i < inner; i += 1) to[start + i * between] = bits[from + i] ?? 0;
    }
  }

  /** Raises ModelError unless every tensor came. */
  finish() {
    const [missing] = this.missing;
    if (missing) throw new ModelError(`The weights lack ${missing}.`);
  }
}
