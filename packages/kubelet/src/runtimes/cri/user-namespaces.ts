import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Random } from '@coracle/environment'
import { nodePodsMax } from '../../node/node-facts.ts'
import type { IdRange, PodSandboxConfig } from '../runtime.ts'

/** How many users, and groups, a pod has: upstream's default. The first of them is a multiple of it. */
const idsPerPod = 65_536
const idsMax = 2 ** 32

/** The user of the host whose subordinate ids are those that pods get, where it has some. */
const owner = 'kubelet'

/** Gives what a program has written. Rejects where it fails, with code ENOENT where there is none. */
export type RunProgram = (program: string, args: readonly string[]) => Promise<string>

const timeoutMs = 10_000
const runOnHost: RunProgram = async (program, args) =>
  (await promisify(execFile)(program, args, { timeout: timeoutMs })).stdout

/** Which users of the node each pod has that has users of its own (upstream's pkg/kubelet/userns): ids that no other pod has, and nobody else. */
export class UserNamespaces {
  readonly #random: Random
  readonly #known: () => Promise<readonly PodSandboxConfig[]>
  readonly #run: RunProgram
  /** The first of the ids of pods, by their uids, and all there are. Read when the first pod needs some. */
  #state: Promise<{ readonly firstIds: Map<string, number>; readonly all: IdRange }> | undefined

  /** `known` gives the pods that have been given some: what is written of them is what counts. */
  constructor(random: Random, known: () => Promise<readonly PodSandboxConfig[]>, run: RunProgram = runOnHost) {
    this.#random = random
    this.#known = known
    this.#run = run
  }

  /** The ids of a pod: always the same until they are released. */
  async ofPod(podUid: string): Promise<IdRange> {
    this.#state ??= this.#read()
    const { firstIds, all } = await this.#state.catch((error) => {
      // The next pod asks again.
      this.#state = undefined
      throw error
    })
    const hostId = firstIds.get(podUid) ?? this.#freeOf(all, new Set(firstIds.values()))
    firstIds.set(podUid, hostId)
    return { hostId, length: idsPerPod }
  }

  async release(podUid: string): Promise<void> {
    const state = await this.#state?.catch(() => undefined)
    state?.firstIds.delete(podUid)
  }

  /** Those that were just given back are not likely to come next: files may still be theirs. */
  #freeOf({ hostId, length }: IdRange, taken: ReadonlySet<number>): number {
    const count = length / idsPerPod
    const start = Math.floor(this.#random.next() * count)
    for (let step = 0; step < count; step++) {
      const first = hostId + ((start + step) % count) * idsPerPod
      if (!taken.has(first)) return first
    }
    throw new Error('create user namespace: could not find an empty slot to allocate a user namespace')
  }

  async #read() {
    const all = await idsOfPods(this.#run)
    const firstIds = new Map<string, number>()
    for (const { podUid, isolation } of await this.#known())
      if (isolation?.users !== undefined) firstIds.set(podUid, isolation.users.hostId)
    return { firstIds, all }
  }
}

/**
 * The ids of the host that pods may have: the subordinate ones of its user `kubelet`, where there is one and `getsubids` to ask, or else all that
 * are above those of the host's own users.
 */
export async function idsOfPods(run: RunProgram): Promise<IdRange> {
  const usual = { hostId: idsPerPod, length: idsMax - idsPerPod }
  if ((await run('id', ['-u', owner]).catch(() => undefined)) === undefined) return usual
  const users = await subordinateIds(run, [owner], 'uids')
  if (users === undefined) return usual
  if (users !== (await subordinateIds(run, ['-g', owner], 'gids')))
    throw new Error(`kubelet mappings: mismatched subuids and subgids for user ${JSON.stringify(owner)}`)
  return checked(parsed(users))
}

async function subordinateIds(run: RunProgram, args: readonly string[], what: string): Promise<string | undefined> {
  try {
    return await run('getsubids', args)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    const said = error instanceof Error ? error.message.trim() : String(error)
    throw new Error(`kubelet mappings: error retrieving additional ${what} for user ${JSON.stringify(owner)}: ${said}`)
  }
}

/** Of what `getsubids` writes, such as `0: kubelet 65536 7208960`. */
function parsed(text: string): IdRange {
  const [, hostId, length] = /^\S+\s+\S+\s+(\d+)\s+(\d+)\s*$/.exec(text) ?? []
  if (hostId === undefined || length === undefined)
    throw new Error(`kubelet mappings: not one range of ids: ${JSON.stringify(text.trim())}`)
  return { hostId: Number(hostId), length: Number(length) }
}

/** In upstream's words. */
function checked(range: IdRange): IdRange {
  const { hostId, length } = range
  const fail = (problem: string): never => {
    throw new Error(`kubelet user assigned ${problem}`)
  }
  if (hostId % idsPerPod !== 0) fail(`ID ${hostId} is not a multiple of ${idsPerPod}`)
  if (hostId < idsPerPod) fail(`ID ${hostId} must be greater or equal to ${idsPerPod}`)
  if (length % idsPerPod !== 0) fail(`IDs length ${length} is not a multiple of ${idsPerPod}`)
  if (length / idsPerPod < nodePodsMax) fail(`IDs are not enough to support ${nodePodsMax} pods`)
  return range
}
