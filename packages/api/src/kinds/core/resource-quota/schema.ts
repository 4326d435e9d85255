import { kindSchema } from '../../../meta.ts'
import { atomicList, object, optional, required, string } from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { coreV1 } from '../../meta/names.ts'
import { resourceList } from '../common.ts'

export interface ScopedResourceSelectorRequirement extends Infer<typeof scopedResourceSelectorRequirement> {}
export const scopedResourceSelectorRequirement = object(
  `${coreV1}.ScopedResourceSelectorRequirement`,
  'One condition on the objects that a quota counts.',
  {
    scopeName: required(string(), 'What the condition is about, such as PriorityClass.', { default: '' }),
    operator: required(string(), 'How it is compared: In, NotIn, Exists or DoesNotExist.', { default: '' }),
    values: optional(atomicList(string()), 'Values to compare with: some for In and NotIn, none for the others.'),
  },
)

export interface ScopeSelector extends Infer<typeof scopeSelector> {}
export const scopeSelector = object(
  `${coreV1}.ScopeSelector`,
  'Picks the objects that a quota counts. All conditions must hold.',
  {
    matchExpressions: optional(atomicList(scopedResourceSelectorRequirement), 'The conditions.'),
  },
  { mapType: 'atomic' },
)

export interface ResourceQuotaSpec extends Infer<typeof resourceQuotaSpec> {}
export const resourceQuotaSpec = object(`${coreV1}.ResourceQuotaSpec`, 'What a namespace may have.', {
  hard: optional(
    resourceList,
    'The most there may be, by resource: amounts such as requests.cpu, or counts of objects.',
  ),
  scopes: optional(
    atomicList(string()),
    'Which objects are counted, such as BestEffort; all unless set. It cannot be changed.',
  ),
  scopeSelector: optional(scopeSelector, 'Which objects are counted, by conditions; along with scopes.'),
})

export interface ResourceQuotaStatus extends Infer<typeof resourceQuotaStatus> {}
export const resourceQuotaStatus = object(`${coreV1}.ResourceQuotaStatus`, 'What a namespace has.', {
  hard: optional(resourceList, 'The limits that are in force.'),
  used: optional(resourceList, 'How much of it is used.'),
})

/** How much a namespace may have in all. */
export interface ResourceQuota extends Infer<typeof resourceQuotaSchema> {}
export const resourceQuotaSchema = kindSchema(
  `${coreV1}.ResourceQuota`,
  'How much the objects of a namespace may take in all, and how many of them there may be.',
  {
    spec: optional(resourceQuotaSpec, 'What the namespace may have.', { default: {} }),
    status: optional(resourceQuotaStatus, 'What the namespace has.', { default: {} }),
  },
)
