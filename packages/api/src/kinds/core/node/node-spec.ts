import { atomicList, boolean, object, optional, required, setList, string, time } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'

/** What taints do to pods that do not tolerate them. */
export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const
export type TaintEffect = (typeof taintEffects)[number]

export interface Taint extends Infer<typeof taint> {}
export const taint = object(`${coreV1}.Taint`, 'Keeps pods that do not tolerate it off a node.', {
  // Defaults stand for Go's zero values, so that what is wrong is said in the words of the kind's own validation.
  key: required(string(), 'Key that tolerations name.', { default: '' }),
  value: optional(string(), 'Value that tolerations may name.'),
  effect: required(
    string(),
    'What it does: NoSchedule and PreferNoSchedule keep new pods away, NoExecute also evicts those that run.',
    { default: '' },
  ),
  timeAdded: optional(time, 'When it was put on the node. Tolerations with an end count from here.'),
})

export interface ConfigMapNodeConfigSource extends Infer<typeof configMapNodeConfigSource> {}
export const configMapNodeConfigSource = object(
  `${coreV1}.ConfigMapNodeConfigSource`,
  'A ConfigMap with the configuration of a node. No longer used.',
  {
    namespace: required(string(), 'Namespace of the ConfigMap.'),
    name: required(string(), 'Name of the ConfigMap.'),
    uid: optional(string(), 'UID of the ConfigMap.'),
    resourceVersion: optional(string(), 'Version of the ConfigMap.'),
    kubeletConfigKey: required(string(), 'Key in the ConfigMap.'),
  },
)

export interface NodeConfigSource extends Infer<typeof nodeConfigSource> {}
export const nodeConfigSource = object(
  `${coreV1}.NodeConfigSource`,
  'Where a node is to take its configuration from. No longer used.',
  { configMap: optional(configMapNodeConfigSource, 'A ConfigMap.') },
)

export interface NodeSpec extends Infer<typeof nodeSpec> {}
export const nodeSpec = object(`${coreV1}.NodeSpec`, 'What is wanted of a node.', {
  podCIDR: optional(string(), 'Range of addresses for the pods of the node; the first of podCIDRs.'),
  podCIDRs: optional(
    setList(string(), { patchStrategy: 'merge', duplicates: 'allowed' }),
    'Ranges of addresses for the pods of the node: one, or one of each IP family. They cannot be changed once set.',
  ),
  providerID: optional(
    string(),
    'Who the node is to the cloud it runs in: PROVIDER://ID. It cannot be changed once set.',
  ),
  unschedulable: optional(boolean, 'Whether new pods are kept off the node (kubectl cordon).'),
  taints: optional(atomicList(taint), 'What keeps pods off the node that do not tolerate it.'),
  configSource: optional(nodeConfigSource, 'Where the node is to take its configuration from. No longer used.', {
    deprecated: 'spec.configSource: the feature is no longer available',
  }),
  externalID: optional(string(), 'No longer used.', { deprecated: 'spec.externalID: this field is unused' }),
})
