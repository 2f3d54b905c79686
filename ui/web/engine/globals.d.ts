/** Of onnxruntime-web, as build.js reads it. */
declare const RUNTIME_VERSION: string;
