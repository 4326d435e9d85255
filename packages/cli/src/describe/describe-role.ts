import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '@coracle/api'
import { Description } from './description.ts'
import { describeAnnotations, describeLabels } from './metadata.ts'
import { describePolicyRules } from './policy-rules.ts'

/** A Role or ClusterRole in detail. */
export function describeRole({ metadata, rules = [] }: Role | ClusterRole): string {
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '')
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  describePolicyRules(text, rules ?? [])
  return text.toString()
}

/** A RoleBinding or ClusterRoleBinding in detail. */
export function describeRoleBinding({ metadata, roleRef, subjects = [] }: RoleBinding | ClusterRoleBinding): string {
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '')
  describeLabels(text, 0, 'Labels', metadata.labels)
  describeAnnotations(text, 0, metadata.annotations)
  text.heading(0, 'Role').field(1, 'Kind', roleRef.kind).field(1, 'Name', roleRef.name)
  text.heading(0, 'Subjects').line(1, 'Kind\tName\tNamespace').line(1, '----\t----\t---------')
  for (const { kind, name, namespace = '' } of subjects ?? []) text.line(1, `${kind}\t${name}\t${namespace}`)
  return text.toString()
}
