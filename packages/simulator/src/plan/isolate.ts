import type { KubernetesObject } from '@coracle/api'
import type { ClusterState } from '@coracle/cluster'

/** What a copy is not given, or not as it is, because it would reach out of this process. */
export interface Isolated {
  readonly state: ClusterState
  /** `ValidatingWebhookConfiguration checks`: who would be asked about the change, and is not. */
  readonly notAsked: readonly string[]
}

/**
 * A state without what reaches others: webhooks and servers behind the API server would be called by the copy too, with requests
 * that nobody has made.
 */
export function isolate(state: ClusterState): Isolated {
  const notAsked: string[] = []
  const objects = state.objects.flatMap((object): readonly KubernetesObject[] => {
    const { kind = '', metadata } = object
    const text = `${kind} ${metadata.name}`
    switch (kind) {
      case 'ValidatingWebhookConfiguration':
      case 'MutatingWebhookConfiguration':
        notAsked.push(text)
        return []
      case 'APIService':
        if (specOf(object).service === undefined) return [object]
        notAsked.push(text)
        return []
      case 'CustomResourceDefinition': {
        const { conversion } = specOf(object)
        if (conversion?.strategy !== 'Webhook') return [object]
        notAsked.push(text)
        return [{ ...object, spec: { ...specOf(object), conversion: { strategy: 'None' } } } as KubernetesObject]
      }
      default:
        return [object]
    }
  })
  return { state: { ...state, objects }, notAsked }
}

interface Reaching {
  readonly service?: unknown
  readonly conversion?: { readonly strategy?: string }
}

const specOf = (object: KubernetesObject): Reaching =>
  (object as KubernetesObject & { readonly spec?: Reaching }).spec ?? {}
