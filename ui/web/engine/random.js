// Draws the permutations of a torch.Generator on the CPU: the Mersenne Twister (mt19937, Matsumoto and
// Nishimura 1998), seeded and used as torch does, so that a seed means the same decode everywhere.

const SIZE = 624;
const MIDDLE = 397;

export class Generator {
  /** @param {number} seed a whole number from 0 on; its low 32 bits count */
  constructor(seed) {
    this.state = new Uint32Array(SIZE);
    this.state[0] = Number(BigInt(seed) & 0xffffffffn);
    for (let i = 1; i < SIZE; i += 1) {
      const last = this.word(i - 1);
      this.state[i] = Math.imul(1812433253, last ^ (last >>> 30)) + i;
    }
    this.next = SIZE;
  }

  /** A word of the state, which goes on from its start. @param {number} index */
  word(index) {
    return this.state[index % SIZE];
  }

  /** Make the next words of the state. */
  refill() {
    for (let i = 0; i < SIZE; i += 1) {
      const y = (this.word(i) & 0x80000000) | (this.word(i + 1) & 0x7fffffff);
      this.state[i] = this.word(i + MIDDLE) ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
    }
    this.next = 0;
  }

  /** The next 32 random bits. */
  random() {
    if (this.next === SIZE) this.refill();
    let y = this.word(this.next);
    this.next += 1;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  }

  /** torch.randperm(count). @param {number} count */
  permutation(count) {
    const order = Array.from({ length: count }, (_, index) => index);
    for (let i = 0; i < count - 1; i += 1) {
      const other = i + (this.random() % (count - i));
      [order[i], order[other]] = [order[other], order[i]];
    }
    return order;
  }
}
