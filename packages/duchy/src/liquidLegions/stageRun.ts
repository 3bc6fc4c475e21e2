/** How a stage is told to end, and tells how far it is. */
export interface StageRun {
  signal?: AbortSignal;
  /** From 0 to 1. */
  onProgress?: (fraction: number) => void;
}
