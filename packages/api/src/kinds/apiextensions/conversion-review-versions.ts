/** Versions of ConversionReview that this server speaks, the best first. */
export const conversionReviewVersions: readonly string[] = ['v1', 'v1beta1']
