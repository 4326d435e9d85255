import { type KubernetesObject, pods } from '@coracle/api'
import { hubView } from '../../versions/version-view.ts'
import { CacheEvent, type ChangeType } from '../cache-event.ts'
import { createObjectCodec } from '../object-codec.ts'
import { type SelectionOptions, selectionOf } from '../selection.ts'
import { StoredObject } from '../stored-object.ts'

const codec = createObjectCodec(pods)

export interface PodParts {
  readonly labels?: Readonly<Record<string, string>>
  readonly nodeName?: string
}

/** The pod under a cache key, `namespace/name`, as of a revision. */
export function storedPod(key: string, { labels, nodeName }: PodParts = {}, revision = 1): StoredObject {
  const [namespace = '', name = ''] = key.split('/')
  const pod: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ...(labels === undefined ? {} : { labels }) },
    ...{ spec: nodeName === undefined ? {} : { nodeName } },
  }
  const value = codec.encode(pod, [])
  return new StoredObject(codec.decode(value, revision).object, revision, value, codec.head)
}

/** The event of a pod's change from what `previous` tells to what `current` tells: a delete where that is undefined. */
export function podEvent(
  key: string,
  previous: PodParts | undefined,
  current: PodParts | undefined,
  revision = 2,
): CacheEvent {
  const before = previous === undefined ? undefined : storedPod(key, previous, revision - 1)
  const type: ChangeType = current === undefined ? 'DELETED' : before === undefined ? 'ADDED' : 'MODIFIED'
  const stored = storedPod(key, current ?? previous, revision)
  return new CacheEvent({ type, key, revision, sequence: revision, timeMs: 0, stored, previous: before })
}

/** What a list or watch of pods with these options is about. */
export const podSelection = (options: SelectionOptions = {}) => selectionOf(pods, options, hubView(pods))
