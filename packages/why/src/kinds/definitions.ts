import type { ApiService, CustomResourceDefinition, ResourceQuota } from '@coracle/api'
import { compareQuantity } from '@coracle/api'
import { conditionOf, saidBy } from '../conditions.ts'
import type { Facts, KindRules } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'

export const definitionRules: KindRules<CustomResourceDefinition> = {
  rules: [namesTaken, schemaWrong, instancesLeft, notEstablished],
}

function namesTaken({ object }: Facts<CustomResourceDefinition>): Diagnosis | undefined {
  const condition = conditionOf(object, 'NamesAccepted')
  if (condition?.status !== 'False') return undefined
  return {
    reason: condition.reason || 'NamesNotAccepted',
    what: 'its kind is not served',
    because: saidBy(condition),
    remedy: 'give it names that no other kind of the group has, or delete the other definition',
  }
}

function schemaWrong({ object }: Facts<CustomResourceDefinition>): Diagnosis | undefined {
  const condition = conditionOf(object, 'NonStructuralSchema')
  if (condition?.status !== 'True') return undefined
  return {
    reason: 'NonStructuralSchema',
    what: 'its schema is not structural',
    because: saidBy(condition),
    remedy: 'correct the schema where the message says',
  }
}

/** A definition goes when the last object of its kind has gone. */
function instancesLeft({ object }: Facts<CustomResourceDefinition>): Diagnosis | undefined {
  const condition = conditionOf(object, 'Terminating')
  if (condition?.status !== 'True' || object.metadata.deletionTimestamp === undefined) return undefined
  return {
    reason: condition.reason || 'InstancesRemain',
    what: 'it is being deleted and does not go',
    because: saidBy(condition),
    remedy: `objects of its kind are left, held by finalizers mostly: \`coracle get ${object.spec.names.plural} -A\``,
  }
}

function notEstablished({ object }: Facts<CustomResourceDefinition>): Diagnosis | undefined {
  const condition = conditionOf(object, 'Established')
  if (condition?.status === 'True' || conditionOf(object, 'NamesAccepted')?.status === 'False') return undefined
  return {
    reason: 'NotEstablished',
    what: 'its kind is not served yet',
    because: condition === undefined ? 'its controller has said nothing of it so far' : saidBy(condition),
    remedy: 'wait a moment, or see that the controllers run',
    state: 'waiting',
  }
}

export const apiServiceRules: KindRules<ApiService> = {
  rules: [unavailable],
}

function unavailable({ object }: Facts<ApiService>): Diagnosis | undefined {
  const condition = conditionOf(object, 'Available')
  if (condition?.status !== 'False') return undefined
  const { service } = object.spec ?? {}
  return {
    reason: condition.reason || 'Unavailable',
    what: `requests to ${object.spec?.group}/${object.spec?.version} are not answered`,
    because: saidBy(condition),
    remedy:
      service === undefined
        ? 'see that the server itself is well'
        : `see that its service runs and answers: \`coracle why service/${service.name} -n ${service.namespace}\``,
  }
}

export const quotaRules: KindRules<ResourceQuota> = {
  rules: [usedUp],
}

function usedUp({ object }: Facts<ResourceQuota>): Diagnosis | undefined {
  const { hard = {}, used = {} } = object.status ?? {}
  const full = Object.entries(hard).filter(([name, most]) => compareQuantity(used[name] ?? '0', most) >= 0)
  if (full.length === 0) return undefined
  return {
    reason: 'QuotaUsedUp',
    what: 'nothing more is created that counts against it',
    because: full.map(([name, most]) => `${name}: ${used[name] ?? '0'} of ${most}`).join(', '),
    remedy: 'raise spec.hard, or delete what is not needed',
    state: 'hint',
  }
}
