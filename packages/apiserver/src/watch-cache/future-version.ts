import { ApiError } from '@coracle/api'

/** How long a read waits for a version that is still to come. */
export const futureVersionWaitMs = 3000

/** A read wants a version that is still to come. */
export function tooLargeVersion(requested: string, current: number): ApiError {
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]
  const message = `Timeout: Too large resource version: ${requested}, current: ${current}`
  return new ApiError(504, 'Timeout', message, { causes, retryAfterSeconds: 1 })
}
