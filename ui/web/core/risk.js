// The slider from safer to bolder: steps of gamma, and what lies outside the usual. Knows no DOM.

/**
 * The step nearest to a gamma.
 * @param {number[]} gammas rising
 * @param {number} gamma nats
 */
export function nearestStep(gammas, gamma) {
  /** @param {number} index */
  const distance = (index) => Math.abs((gammas[index] ?? 0) - gamma);
  return gammas.reduce((best, _, index) => (distance(index) < distance(best) ? index : best), 0);
}

/**
 * A sentence for what is outside the usual range; "" for nothing.
 * @param {{ gammas: number[], block_range: number[] }} usual
 * @param {number} gamma
 * @param {number} blockSize
 */
export function outsideWords({ gammas, block_range: range }, gamma, blockSize) {
  const most = Math.max(...gammas);
  const [low = 0, high = 0] = range;
  const parts = [];
  if (gamma > most) parts.push(`γ ${gamma} is above the usual 0 to ${most}`);
  if (blockSize < low || blockSize > high) {
    parts.push(`blocks of ${blockSize} are outside the ${low} to ${high} it was trained on`);
  }
  return parts.length ? `This is unusual, and runs as it is: ${parts.join("; ")}.` : "";
}

/**
 * Why the slider stands elsewhere than at what was measured to be best; "" if a recording did not
 * bring it there.
 * @param {boolean} isBrought whether the form holds the settings of the recording on the stage
 * @param {string} words of those settings
 */
export function recordingWords(isBrought, words) {
  return isBrought ? `The recording shown was made with ${words}, so the form has that. ` : "";
}

/**
 * Text under the slider: what was measured to be best or, while blanks are to be filled in,
 * what alone can do that.
 * @param {string} best
 * @param {boolean} hasBlanks
 */
export function adviceWords(best, hasBlanks) {
  return hasBlanks
    ? "Only Set Block Decoding fills in blanks; the slider sets its γ."
    : best.replaceAll("γ ", "γ\u00a0");
}
