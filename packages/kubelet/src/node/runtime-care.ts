import type { Environment } from '@coracle/environment'
import type { Pressure } from '../eviction/plan-eviction.ts'
import { type EvictionDetails, type EvictionThresholds, evictionDetails } from '../eviction/thresholds.ts'
import { watchNodePressure } from '../eviction/watch-node-pressure.ts'
import { ImageCollector } from '../images/image-collector.ts'
import { type ImageLimits, imageLimits } from '../images/image-limits.ts'
import type { PodManager } from '../pod/pod-manager.ts'
import type { ImageService, Runtime } from '../runtimes/runtime.ts'
import type { NodeRecorder } from './node-events.ts'

export interface RuntimeCareParts {
  readonly environment: Environment
  readonly nodeName: string
  readonly recorder: NodeRecorder
  readonly runtime: Runtime
  readonly images: ImageService
  readonly manager: PodManager
  /** Where files of pods are. Absent: nowhere, and nobody looks how much is left. */
  readonly directory: string | undefined
  readonly limits: ImageLimits | undefined
  readonly thresholds: EvictionThresholds | undefined
  readonly eviction: Partial<EvictionDetails> | undefined
}

/** What looks after a node whose runtime has images, in the background. */
export interface RuntimeCare {
  /** The conditions that hold of the node. */
  readonly conditions: readonly Pressure[]
  stop(): void
}

/** Has images removed that are not in use, and pods evicted where the node runs low. */
export function careForRuntime(parts: RuntimeCareParts): RuntimeCare {
  const { environment, nodeName, recorder, runtime, images, manager, directory, thresholds = {} } = parts
  const { limits = imageLimits } = parts
  const collector = new ImageCollector({ environment, runtime, images, limits, nodeName, recorder })
  collector.start()
  const settings = { ...evictionDetails, ...parts.eviction, hard: thresholds }
  const isWatched = directory !== undefined && Object.keys({ ...thresholds, ...settings.soft }).length > 0
  const pressure = isWatched
    ? watchNodePressure({
        ...{ environment, nodeName, recorder, runtime, settings, directory },
        pods: () => manager.storing(),
        async reclaimDisk() {
          try {
            await manager.removeDeadContainers({ ttlMinMs: 0, perContainerMax: 0, max: 0 }, environment.clock.now())
          } finally {
            await collector.removeUnused()
          }
        },
      })
    : undefined
  pressure?.start()
  return {
    get conditions() {
      return pressure?.conditions ?? []
    },
    stop() {
      collector.stop()
      pressure?.stop()
    },
  }
}
