import type { Reporter } from 'vitest/node'
import { type PropertySettings, usualSeed } from './settings.ts'

/** Says at the end of a run of the tests how its properties drew their values, where that is not as usual. */
export default class PropertyReporter implements Reporter {
  readonly #settings: PropertySettings

  constructor(settings: PropertySettings) {
    this.#settings = settings
  }

  onTestRunEnd(): void {
    const { seed, runs } = this.#settings
    if (seed === usualSeed && runs === 1) return
    console.log(` properties: CORACLE_PROPERTY_SEED=${seed} CORACLE_PROPERTY_RUNS=${runs} draws the same again`)
  }
}
