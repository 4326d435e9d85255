/**
 * fast-check as tests import it (`plugin.ts` sees to that): all properties draw from one seed, and are tried as often as the run of the
 * tests asks for.
 */
import * as fastCheck from 'fast-check'
import { propertySettings, usualSeed } from './settings.ts'

const { seed, runs } = propertySettings(process.env, () => usualSeed)
fastCheck.configureGlobal({ ...fastCheck.readConfigureGlobal(), seed })

/** How often fast-check tries a property that does not say. */
const numRunsDefault = 100

export * from 'fast-check'

export function assert<T>(property: fastCheck.IAsyncProperty<T>, parameters?: fastCheck.Parameters<T>): Promise<void>
export function assert<T>(property: fastCheck.IProperty<T>, parameters?: fastCheck.Parameters<T>): void
export function assert<T>(
  property: fastCheck.IRawProperty<T>,
  { numRuns = numRunsDefault, ...others }: fastCheck.Parameters<T> = {},
): Promise<void> | void {
  return fastCheck.assert(property, { ...others, numRuns: numRuns * runs })
}

export default { ...fastCheck, assert }
