import type { KubernetesObject } from '@coracle/api'
import { controllerOf } from '../view.ts'
import { nameText, objectNameOf } from './object-name.ts'
import type { RecordedChange } from './recording.ts'

/** The objects of a copy at some moment of its history: as they were before the change, and as changes are taken in. */
export class ObjectsNow {
  readonly #byName = new Map<string, KubernetesObject>()
  /** Also of those that are gone: what they owned may outlive them. */
  readonly #byUid = new Map<string, KubernetesObject>()

  constructor(before: readonly KubernetesObject[]) {
    for (const object of before) this.#put(object)
  }

  apply({ old, object }: RecordedChange): void {
    if (object !== undefined) this.#put(object)
    else if (old !== undefined) this.#byName.delete(nameText(objectNameOf(old)))
  }

  ofKind(...kinds: readonly string[]): readonly KubernetesObject[] {
    return [...this.#byName.values()].filter(({ kind = '' }) => kinds.includes(kind))
  }

  find(kind: string, namespace: string | undefined, name: string): KubernetesObject | undefined {
    return this.#byName.get(nameText(namespace === undefined ? { kind, name } : { kind, namespace, name }))
  }

  /** The object as it is now, or was last. */
  byUid(uid: string): KubernetesObject | undefined {
    return this.#byUid.get(uid)
  }

  /** What controls an object at the top: the Deployment of a ReplicaSet's pod. The object itself where nothing does. */
  workloadOf(object: KubernetesObject): KubernetesObject {
    let top = object
    // Owners may go round in a circle.
    for (let depth = 0; depth < ownersDepthMax; depth++) {
      const owner = this.#byUid.get(controllerOf(top)?.uid ?? '')
      if (owner === undefined) break
      top = owner
    }
    return top
  }

  #put(object: KubernetesObject): void {
    this.#byName.set(nameText(objectNameOf(object)), object)
    this.#byUid.set(object.metadata.uid ?? '', object)
  }
}

const ownersDepthMax = 8
