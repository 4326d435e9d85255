// What evaluates selectors of devices, which the scheduler loads by itself.
import '@coracle/api/devices'
import { builtinKinds } from '@coracle/api'

/**
 * Loads what servers and schedulers load with the first object of a kind. How long that takes is the host's: a run in which it happened would
 * differ from the next.
 */
export async function loadStrategies(): Promise<void> {
  await Promise.all(builtinKinds.map(({ strategy }) => strategy.load?.()))
}
