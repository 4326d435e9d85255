import { type Node, nodes, type Pod } from '@coracle/api'
import type { Registries } from '../registries.ts'
import type { AdmissionAttributes } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { storedObject } from './stored-objects.ts'

/** The node that a pod is on, for a plugin that judges a change by it. Throws where there is none of that name. */
export function nodeOf(registries: Registries, attributes: AdmissionAttributes, pod: Pod): Node {
  const { nodeName = '' } = pod.spec
  const node = storedObject(registries, nodes, nodeName)
  if (node === undefined) throw forbiddenByAdmission(attributes, pod, `node ${JSON.stringify(nodeName)} not found`)
  return node
}
