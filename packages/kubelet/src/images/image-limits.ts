/** Which images of a node go, and when. */
export interface ImageLimits {
  /** Percent of the images' file system that may be in use before unused images go; 100: they never do for that. */
  readonly highThresholdPercent: number
  /** Percent that is in use when enough have gone. */
  readonly lowThresholdPercent: number
  /** One that was seen for the first time more lately than this stays. */
  readonly ageMinMs: number
  /** One that was not used for longer than this goes in any case; 0: none does. */
  readonly ageMaxMs: number
}

/** Upstream's defaults. */
export const imageLimits: ImageLimits = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  ageMinMs: 120_000,
  ageMaxMs: 0,
}
