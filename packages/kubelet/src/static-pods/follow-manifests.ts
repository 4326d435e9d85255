import { formatTime, type Pod } from '@coracle/api'
import { type Environment, keepProcess, type Timer } from '@coracle/environment'
import { watchDirectory } from '@coracle/environment/watch-directory'
import { readManifests } from './read-manifests.ts'
import { keyOf } from './static-pod.ts'
import type { StaticPods } from './static-pods.ts'

/** Manifests are read again after so long at the latest: upstream's fileCheckFrequency. */
export const manifestsCheckMs = 20_000

/** What is followed until it is closed. */
export interface FollowedManifests {
  close(): void
}

/**
 * Has the pods run that the manifests at a path are of, and follows these: as the host tells of them where it is watched, and every 20 s. Resolves when they were read for the first time. A file that is being
 * written says nothing for a moment: its pod goes where that is still so when all are read again.
 */
export async function followManifests(
  path: string,
  nodeName: string,
  environment: Environment,
  pods: Pick<StaticPods, 'set'>,
  isWatched: boolean,
): Promise<FollowedManifests> {
  const { clock, logger } = environment
  const seenAt = formatTime(clock.now())
  let told: ReadonlyMap<string, string> = new Map()
  let isClosed = false
  let timer: Timer | undefined
  let last: ReadonlyMap<string, Pod> = new Map()
  const read = async (isCheck: boolean): Promise<void> => {
    try {
      const { pods: found, problems } = await readManifests(path, nodeName, seenAt)
      const kept = isCheck ? [] : [...last].filter(([file]) => problems.has(file))
      last = new Map([...kept, ...found])
      for (const [file, error] of problems)
        if (told.get(file) !== error) logger.warn('a manifest is of no pod that can be run', { file, error })
      told = problems
      if (!isClosed) pods.set([...new Map([...last.values()].map((pod) => [keyOf(pod), pod])).values()])
    } catch (error) {
      logger.warn('the manifests of this node cannot be read, trying again', { path, error })
    }
  }
  let isReading = false
  let isStale = false
  let isDue = false
  const readAll = async (): Promise<void> => {
    isReading = true
    const release = keepProcess(clock)
    while (isStale && !isClosed) {
      const isCheck = isDue
      isStale = false
      isDue = false
      await clock.hold(read(isCheck))
    }
    release()
    isReading = false
  }
  const look = (): void => {
    isStale = true
    if (!isReading) void readAll()
  }
  const lookLater = (): void => {
    timer = clock.setTimer(
      manifestsCheckMs,
      () => {
        isDue = true
        look()
        lookLater()
      },
      { poll: true },
    )
  }
  const watch = isWatched ? watchDirectory(path, clock, look) : undefined
  await clock.hold(read(true))
  lookLater()
  return {
    close() {
      isClosed = true
      watch?.close()
      timer?.cancel()
    },
  }
}
