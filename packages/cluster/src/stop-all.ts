import type { Stop, StopOptions } from './component.ts'

/** The last started is stopped first. One that fails to stop does not keep the others from it. */
export async function stopAll(stops: Stop[], options: StopOptions): Promise<void> {
  const errors: unknown[] = []
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) {
    try {
      await stop(options)
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new AggregateError(errors, 'several parts of the cluster did not stop cleanly')
}
