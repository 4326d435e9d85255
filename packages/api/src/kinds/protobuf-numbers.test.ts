import { describe, expect, it } from 'vitest'
import { protobufMessages } from './protobuf-messages.ts'

/** The number of a field, as the line of its message says it. */
function numberOf(group: string, message: string, field: string): number | undefined {
  const text = protobufMessages[`io.k8s.api.${group}`] ?? ''
  const line = text.replace(/\n\s+/g, ' ').match(new RegExp(`^${message}: (.*)$`, 'm'))?.[1] ?? ''
  let number = 0
  for (const word of line.split(' ')) {
    const [, given, name] = /^(?:(\d+):)?([\w.]+)/.exec(word) ?? []
    number = given === undefined ? number + 1 : Number(given)
    if (name === field) return number
  }
  return undefined
}

describe('numbers of fields that follow a gap', () => {
  // generated.proto of k8s.io/api v0.36.3
  it.each([
    ['core.v1', 'PodSpec', 'hostnameOverride', 41],
    ['core.v1', 'PodSpec', 'schedulingGroup', 43],
    ['core.v1', 'PodStatus', 'nodeAllocatableResourceClaimStatuses', 21],
    ['core.v1', 'ResourceHealth', 'message', 6],
    ['core.v1', 'VolumeMountStatus', 'volumeStatus', 5],
    ['core.v1', 'NodeAllocatableResourceClaimStatus', 'resources', 3],
    ['apps.v1', 'StatefulSetStatus', 'updateRevision', 7],
    ['apps.v1', 'StatefulSetStatus', 'collisionCount', 9],
    ['apps.v1', 'StatefulSetStatus', 'conditions', 10],
    ['apps.v1', 'StatefulSetStatus', 'availableReplicas', 11],
  ])('%s %s %s: %i', (group, message, field, number) => {
    expect(numberOf(group, message, field)).toBe(number)
  })
})
