import { type KubernetesObject, namespaces, type Pod } from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { AdmissionPlugin } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { type AdmittedPod, createsPod, withSpec } from './pods.ts'
import { storedObject } from './stored-objects.ts'
import { unexplainedRefusal } from './unexplained-refusal.ts'

const annotation = 'scheduler.alpha.kubernetes.io/node-selector'

type Labels = Readonly<Record<string, string>>

/** Pods go to the nodes that an annotation of their namespace selects; they may choose among these, and ask for no others. */
export function podNodeSelector(registries: Registries): AdmissionPlugin {
  const selectorOf = (namespace: string): Labels =>
    labelsOf(storedObject(registries, namespaces, namespace)?.metadata.annotations?.[annotation] ?? '')
  return {
    name: 'PodNodeSelector',
    mutate(attributes, object) {
      if (!createsPod(attributes)) return object
      const wanted = selectorOf(attributes.namespace)
      const own = nodeSelectorOf(object)
      if (conflict(wanted, own)) throw forbiddenByAdmission(attributes, object, conflictText)
      if (Object.keys(wanted).every((key) => Object.hasOwn(own, key))) return object
      return withSpec(object as AdmittedPod, { nodeSelector: { ...wanted, ...own } })
    },
    validate(attributes, object) {
      if (!createsPod(attributes)) return
      if (!conflict(selectorOf(attributes.namespace), nodeSelectorOf(object))) return
      throw forbiddenByAdmission(attributes, object, conflictText)
    },
  }
}

const conflictText = 'pod node label selector conflicts with its namespace node label selector'

const nodeSelectorOf = (object: KubernetesObject | undefined): Labels => (object as Pod).spec.nodeSelector ?? {}

const conflict = (a: Labels, b: Labels): boolean =>
  Object.entries(a).some(([key, value]) => Object.hasOwn(b, key) && b[key] !== value)

/** What `a=b,c=d` says; throws for anything else. */
function labelsOf(text: string): Labels {
  if (text === '') return {}
  return Object.fromEntries(
    text.split(',').map((term) => {
      const parts = term.split('=')
      const [key = '', value = ''] = parts
      if (parts.length !== 2) throw unexplainedRefusal(`invalid selector: [${parts.join(' ')}]`)
      return [key.trim(), value.trim()]
    }),
  )
}
