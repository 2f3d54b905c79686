// The angles by which queries and keys are turned, as tables for forward.c: of every position the
// cosines and sines of queries (scaled for attention), of keys, and those that leave values alone.

/** @import { Rotary, Shape } from "./shape.js" */

const { fround, cos, sin } = Math;

/**
 * Turns a position, by dimension; in fp32 as transformers has them.
 * @param {Rotary} rotary
 * @param {number} half of the head's size
 */
function frequencies({ type, theta, parameters }, half) {
  const plain = Array.from({ length: half }, (_, index) =>
    fround(1 / fround(theta ** fround(index / half))),
  );
  const factor = parameters.factor ?? 1;
  if (type === "linear") return plain.map((value) => fround(value / factor));
  if (type === "default") return plain;
  const { low_freq_factor: low = 1, high_freq_factor: high = 4 } = parameters;
  const context = parameters.original_max_position_embeddings ?? 8192;
  return plain.map((value) => {
    const wavelength = (2 * Math.PI) / value;
    if (wavelength < context / high) return value;
    if (wavelength > context / low) return fround(value / factor);
    const share = (context / wavelength - low) / (high - low);
    return fround(((1 - share) * value) / factor + share * value);
  });
}

/**
 * Cosines and sines, each (positions, 3, head size).
 * @param {Shape} shape
 */
export function rotaryTables({ rotary, headSize, maxPositions }) {
  const half = headSize / 2;
  const turns = frequencies(rotary, half);
  const scale = headSize ** -0.5;
  const cosines = new Float32Array(maxPositions * 3 * headSize);
  const sines = new Float32Array(cosines.length);
  for (let position = 0; position < maxPositions; position += 1) {
    const row = position * 3 * headSize;
    turns.forEach((turn, index) => {
      const angle = fround(position * turn);
      const [cosine, sine] = [fround(cos(angle)), fround(sin(angle))];
      [scale, 1].forEach((factor, kind) => {
        const at = row + kind * headSize + index;
        cosines[at] = cosines[at + half] = cosine * factor;
        sines[at] = -sine * factor;
        sines[at + half] = sine * factor;
      });
      cosines[row + 2 * headSize + index] = cosines[row + 2 * headSize + half + index] = 1;
    });
  }
  return { cosines, sines };
}
