import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '@coracle/environment'
import { Draw } from './draw.ts'
import type { Operation } from './operation.ts'

/** How often a scenario has pods that nodes are given in files. */
const manifestsShare = 0.15
const requestsMax = 6
const names = ['one', 'two']
const images = ['example/web:1', 'example/web:2']

/** The images of the pods in the files of nodes, by node and by name. */
export type GivenPods = ReadonlyMap<string, ReadonlyMap<string, string>>

/** The files that tell nodes which pods to run. Absent ones are told of by nobody. */
export class Manifests {
  readonly #directory: string
  readonly #given = new Map<string, Map<string, string>>()

  /** Two runs of a seed in one process have the same paths, which pods are known by. */
  constructor(seed: number) {
    this.#directory = join(tmpdir(), `coracle-simulator-${process.pid}-${seed}`)
  }

  /** What each node was given. */
  get given(): GivenPods {
    return this.#given
  }

  /** Where the files of a node are. */
  readonly directoryOf = (node: string): string => join(this.#directory, node)

  /** Makes the directories of these nodes. */
  open(nodes: readonly string[]): void {
    this.close()
    for (const node of nodes) {
      mkdirSync(this.directoryOf(node), { recursive: true })
      this.#given.set(node, new Map())
    }
  }

  /** Gives a node a pod of this image, or takes it away. */
  set(node: string, name: string, image: string | undefined): void {
    const path = join(this.directoryOf(node), `${name}.yaml`)
    if (image === undefined) {
      rmSync(path, { force: true })
      this.#given.get(node)?.delete(name)
      return
    }
    const spec = { containers: [{ name: 'main', image }] }
    writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec }))
    this.#given.get(node)?.set(name, image)
  }

  close(): void {
    rmSync(this.#directory, { recursive: true, force: true })
    this.#given.clear()
  }
}

/**
 * A scenario's operations with those of pods that nodes are given in files. They are drawn from a source of their own, so that a seed without them is what it is
 * without all this.
 */
export function withManifests(seed: number, nodes: number, operations: readonly Operation[]): readonly Operation[] {
  const draw = new Draw(seededRandom(seed).fork('manifests'))
  if (!draw.chance(manifestsShare)) return operations
  const lastMs = Math.max(60_000, operations.at(-1)?.atMs ?? 0)
  const added = Array.from({ length: 1 + draw.below(requestsMax) }, (_, index): Operation => {
    const image = index === 0 || draw.chance(0.7) ? draw.of(images) : undefined
    const atMs = index === 0 ? 0 : draw.below(lastMs)
    return {
      atMs,
      type: 'manifest',
      node: draw.below(nodes),
      name: draw.of(names),
      ...(image === undefined ? {} : { image }),
    }
  })
  return [...operations, ...added].toSorted((a, b) => a.atMs - b.atMs)
}
