import { type FSWatcher, watch } from 'node:fs'
import type { Clock, Timer } from './clock.ts'

/** How often a directory is looked at that the host tells nothing of. */
export const lookMs = 10_000

/** What is followed until it is closed. */
export interface DirectoryWatch {
  close(): void
}

/**
 * Calls `listener` when something comes into a directory, or leaves it; from time to time where the host does not tell: how much its users may watch is
 * limited, and others may have used that up. Keeps no process alive.
 */
export function watchDirectory(directory: string, clock: Clock, listener: () => void): DirectoryWatch {
  let watcher: FSWatcher | undefined
  let timer: Timer | undefined
  let isClosed = false
  const lookLater = (): void => {
    if (isClosed) return
    const look = () => {
      listener()
      lookLater()
    }
    timer = clock.setTimer(lookMs, look, { poll: true })
  }
  try {
    watcher = watch(directory, { persistent: false }, listener)
    watcher.on('error', () => {
      watcher?.close()
      lookLater()
    })
  } catch {
    lookLater()
  }
  return {
    close() {
      isClosed = true
      watcher?.close()
      timer?.cancel()
    },
  }
}
