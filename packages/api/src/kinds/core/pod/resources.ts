import { int32, literal, object, optional, quantity, required, setList, string } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { resourceList } from '../common.ts'
import { keyedList } from './lists.ts'

export interface ContainerResourceClaim extends Infer<typeof containerResourceClaim> {}
export const containerResourceClaim = object(`${coreV1}.ResourceClaim`, "A use of one of the pod's resource claims.", {
  name: required(string(), "Name of an entry in the pod's resourceClaims.", { default: '' }),
  request: optional(string(), 'One request of the claim to use; all of it unless set.'),
})

export interface ResourceRequirements extends Infer<typeof resourceRequirements> {}
export const resourceRequirements = object(
  `${coreV1}.ResourceRequirements`,
  'How much of what is needed and allowed.',
  {
    requests: optional(resourceList, 'What is reserved on the node. Equal to the limits unless set.'),
    limits: optional(resourceList, 'The most that may be used.'),
    claims: optional(
      keyedList(containerResourceClaim, ['name'], { patchStrategy: undefined }),
      'Dynamically allocated resources that are used.',
    ),
  },
)

/** The same where nothing of these may be set: empty lists and maps of them are kept, to be refused as upstream does. */
export const resourcesWithout = (...names: readonly (keyof ResourceRequirements)[]): typeof resourceRequirements => {
  const refused = names.map((name) => [name, { ...resourceRequirements.fields[name], keepsEmpty: true }])
  return {
    ...resourceRequirements,
    definition: resourceRequirements,
    fields: { ...resourceRequirements.fields, ...Object.fromEntries(refused) },
  }
}

export interface ContainerResizePolicy extends Infer<typeof containerResizePolicy> {}
export const containerResizePolicy = object(
  `${coreV1}.ContainerResizePolicy`,
  'What a change of one resource does to a running container.',
  {
    resourceName: required(literal<'cpu' | 'memory'>(), 'The resource: cpu or memory.', {
      absenceIsToldByRules: true,
    }),
    restartPolicy: required(
      literal<'NotRequired' | 'RestartContainer'>(),
      'NotRequired where the change applies to the running container, RestartContainer where it takes a restart.',
      { absenceIsToldByRules: true },
    ),
  },
)

export interface ContainerRestartRuleOnExitCodes extends Infer<typeof containerRestartRuleOnExitCodes> {}
export const containerRestartRuleOnExitCodes = object(
  `${coreV1}.ContainerRestartRuleOnExitCodes`,
  'A condition on the exit code of a container.',
  {
    operator: required(literal<'In' | 'NotIn' | ''>(), 'Whether the code must or must not be among the values.', {
      default: '',
    }),
    values: optional(setList(int32(), { duplicates: 'allowed' }), 'Exit codes; at most 255.'),
  },
)

export interface ContainerRestartRule extends Infer<typeof containerRestartRule> {}
export const containerRestartRule = object(
  `${coreV1}.ContainerRestartRule`,
  'What to do when a container exits in a certain way.',
  {
    action: required(
      literal<'Restart' | 'RestartAllContainers' | ''>(),
      'What is done when the rule matches: Restart the container, or RestartAllContainers of its pod.',
      { default: '' },
    ),
    exitCodes: optional(containerRestartRuleOnExitCodes, 'Exit codes that the rule matches.'),
  },
)

/** Where in the downward API resources of a container are named. */
export interface ResourceFieldSelector extends Infer<typeof resourceFieldSelector> {}
export const resourceFieldSelector = object(
  `${coreV1}.ResourceFieldSelector`,
  'One of the resources of a container, as a value.',
  {
    containerName: optional(string(), 'The container; required in volumes, and the variable’s own container in env.'),
    resource: required(string(), 'Which one, such as limits.cpu or requests.memory.', { default: '' }),
    divisor: optional(quantity, 'Unit of the value: the resource is divided by it and rounded up. 1 unless set.', {
      default: '0',
    }),
  },
  { mapType: 'atomic' },
)
