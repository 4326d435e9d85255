import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { aborted } from '@coracle/environment'
import type { VolumeDrivers, VolumeProblem } from '../volumes/volume-drivers.ts'

/** Drivers of volumes that bring empty directories, and say what they were asked. */
export class FakeVolumeDrivers implements VolumeDrivers {
  readonly asked: string[] = []
  /** Why volumes are not there; undefined: they are. */
  problem: VolumeProblem | undefined
  /** Why volumes cannot be taken away. */
  refusal: string | undefined
  keepsGroup = false
  /** Whether they want to be asked again for what is there, and what is wrong with that. */
  isRepeated = false
  repeatProblem: string | undefined
  /** They answer to nothing until the agent stops. */
  hangs = false
  #stopping = new AbortController().signal
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  start: VolumeDrivers['start'] = async (stopping) => {
    this.#stopping = stopping
    this.asked.push('start')
  }

  mount: VolumeDrivers['mount'] = async ({ metadata }, { name }, persistent) => {
    this.asked.push(`mount ${name} ${persistent?.metadata.name ?? 'of its own'}`)
    if (this.hangs) await aborted(this.#stopping)
    if (this.problem !== undefined) return this.problem
    const path = join(this.#directory, metadata.uid ?? '', 'volumes', name)
    mkdirSync(path, { recursive: true })
    return { path, readOnly: false, keepsGroup: this.keepsGroup, driver: 'd' }
  }

  repeats: VolumeDrivers['repeats'] = async () => this.isRepeated

  repeat: VolumeDrivers['repeat'] = async (_, { name }, persistent) => {
    this.asked.push(`repeat ${name} ${persistent?.metadata.name ?? 'of its own'}`)
    if (this.hangs) await aborted(this.#stopping)
    return this.repeatProblem
  }

  unmount: VolumeDrivers['unmount'] = async () => {
    this.asked.push('unmount')
    if (this.hangs) await aborted(this.#stopping)
    if (this.refusal !== undefined) throw new Error(this.refusal)
  }

  stop: VolumeDrivers['stop'] = async ({ unmounts }) => {
    this.asked.push(unmounts ? 'stop and unmount' : 'stop')
  }
}
