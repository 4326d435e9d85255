import { formatTime } from '@coracle/api'
import { type Environment, keepProcess, type Timer } from '@coracle/environment'
import { watchDirectory } from '@coracle/environment/watch-directory'
import { readManifests } from './read-manifests.ts'
import type { StaticPods } from './static-pods.ts'

/** Manifests are read again after so long at the latest: upstream's fileCheckFrequency. */
export const manifestsCheckMs = 20_000

/** What is followed until it is closed. */
export interface FollowedManifests {
  close(): void
}

/** Has the pods run that the manifests at a path are of, and follows these. Resolves when they were read for the first time. */
export async function followManifests(
  path: string,
  nodeName: string,
  environment: Environment,
  pods: Pick<StaticPods, 'set'>,
): Promise<FollowedManifests> {
  const { clock, logger } = environment
  const seenAt = formatTime(clock.now())
  let told: ReadonlyMap<string, string> = new Map()
  let isClosed = false
  let timer: Timer | undefined
  const read = async (): Promise<void> => {
    try {
      const { pods: wanted, problems } = await readManifests(path, nodeName, seenAt)
      for (const [file, error] of problems)
        if (told.get(file) !== error) logger.warn('a manifest is of no pod that can be run', { file, error })
      told = problems
      if (!isClosed) pods.set(wanted)
    } catch (error) {
      logger.warn('the manifests of this node cannot be read, trying again', { path, error })
    }
  }
  let isReading = false
  let isStale = false
  const readAll = async (): Promise<void> => {
    isReading = true
    const release = keepProcess(clock)
    while (isStale && !isClosed) {
      isStale = false
      await clock.hold(read())
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
        look()
        lookLater()
      },
      { poll: true },
    )
  }
  const watch = watchDirectory(path, clock, look)
  await clock.hold(read())
  lookLater()
  return {
    close() {
      isClosed = true
      watch.close()
      timer?.cancel()
    },
  }
}
