// Types of code that comes without types.

/** The version of onnxruntime-web, which build.js fills in. */
declare const RUNTIME_VERSION: string;

declare module "gifenc" {
  type Pixels = Uint8Array | Uint8ClampedArray;
  type Colour = [red: number, green: number, blue: number];

  export function quantize(rgba: Pixels, maxColors: number): Colour[];
  export function applyPalette(rgba: Pixels, palette: Colour[]): Uint8Array<ArrayBuffer>;
  export function GIFEncoder(): {
    writeFrame(
      index: Uint8Array,
      width: number,
      height: number,
      options: {
        palette?: Colour[];
        transparent?: boolean;
        transparentIndex?: number;
        delay?: number;
        dispose?: number;
      },
    ): void;
    finish(): void;
    bytes(): Uint8Array<ArrayBuffer>;
  };
}
