import {
  type FlowSchema,
  flowSchemas,
  type KubernetesObject,
  type PriorityLevelConfiguration,
  priorityLevelConfigurations,
} from '@coracle/api'
import {
  autoUpdateAnnotation,
  mandatoryFlowSchemas,
  mandatoryPriorityLevels,
  suggestedFlowSchemas,
  suggestedPriorityLevels,
} from '@coracle/api/flow-control'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it, vi } from 'vitest'
import { startTestCore, type TestCore } from '../testing/test-core.ts'
import { reviewIntervalMs } from './required-configuration.ts'

const schemasOf = async ({ client }: TestCore) => (await client.list(flowSchemas)).items
const levelsOf = async ({ client }: TestCore) => (await client.list(priorityLevelConfigurations)).items
const review = ({ environment }: TestCore) => environment.clock.advance(reviewIntervalMs)
const dangling = ({ status }: FlowSchema) => status?.conditions?.find(({ type }) => type === 'Dangling')
const names = (objects: readonly KubernetesObject[]) => objects.map(({ metadata }) => metadata.name).sort()

describe('the flow control of a cluster', () => {
  it('has the levels and schemas that every cluster has from the start, each of which leads to a level that is there', async () => {
    const test = await startTestCore()
    const [schemas, levels] = [await schemasOf(test), await levelsOf(test)]
    expect(names(schemas)).toEqual(names([...mandatoryFlowSchemas, ...suggestedFlowSchemas]))
    expect(names(levels)).toEqual(names([...mandatoryPriorityLevels, ...suggestedPriorityLevels]))
    for (const wanted of [...mandatoryFlowSchemas, ...suggestedFlowSchemas])
      expect(schemas.find(({ metadata }) => metadata.name === wanted.metadata.name)?.spec).toEqual(wanted.spec)
    expect(schemas.map((each) => dangling(each)?.status)).toEqual(schemas.map(() => 'False'))
  })

  it('is left alone by another start', async () => {
    const store = createMemoryStore()
    const first = await startTestCore({ store })
    const before = await schemasOf(first)
    await first.core.close()
    const again = await startTestCore({ store })
    await review(again)
    expect(await schemasOf(again)).toEqual(before)
  })

  it('has again what was deleted, or changed as long as the annotation says so', async () => {
    const test = await startTestCore()
    const { client } = test
    await client.delete(flowSchemas, { name: 'exempt' })
    await client.delete(priorityLevelConfigurations, { name: 'workload-low' })
    const change = { type: 'merge', body: { spec: { matchingPrecedence: 77 } } } as const
    await client.patch(flowSchemas, { name: 'probes' }, change)
    const own = { metadata: { annotations: { [autoUpdateAnnotation]: 'false' } } }
    await client.patch(flowSchemas, { name: 'global-default' }, { type: 'merge', body: own })
    await client.patch(flowSchemas, { name: 'global-default' }, change)
    await review(test)
    expect((await client.get(flowSchemas, { name: 'exempt' })).spec).toEqual(mandatoryFlowSchemas[0]?.spec)
    expect(names(await levelsOf(test))).toContain('workload-low')
    expect((await client.get(flowSchemas, { name: 'probes' })).spec?.matchingPrecedence).toBe(2)
    expect((await client.get(flowSchemas, { name: 'global-default' })).spec?.matchingPrecedence).toBe(77)
  })

  it('is made good again and again, and not looked at where nobody has changed it', async () => {
    const test = await startTestCore()
    const { client, core } = test
    const cache = core.registries.byStorageKey(flowSchemas.storageKey)?.storage.cache
    if (cache === undefined) throw new Error('there are no flow schemas')
    await review(test)
    await review(test)
    const values = vi.spyOn(cache, 'values')
    await review(test)
    expect(values).not.toHaveBeenCalled()
    for (let round = 0; round < 2; round += 1) {
      await client.delete(flowSchemas, { name: 'exempt' })
      await review(test)
      expect((await client.get(flowSchemas, { name: 'exempt' })).spec).toEqual(mandatoryFlowSchemas[0]?.spec)
    }
    expect(values).toHaveBeenCalled()
  })

  it('has the annotation of what must be there, and what is set aside for what is exempt as it was chosen', async () => {
    const test = await startTestCore()
    const { client } = test
    const body = { metadata: { annotations: null }, spec: { exempt: { nominalConcurrencyShares: 9 } } }
    await client.patch(priorityLevelConfigurations, { name: 'exempt' }, { type: 'merge', body })
    await review(test)
    const { metadata, spec } = await client.get(priorityLevelConfigurations, { name: 'exempt' })
    expect(metadata.annotations).toEqual({ [autoUpdateAnnotation]: 'true' })
    expect(spec?.exempt?.nominalConcurrencyShares).toBe(9)
  })

  it('loses what an earlier version made, and nothing that somebody else did', async () => {
    const test = await startTestCore()
    const make = (name: string, value: string): PriorityLevelConfiguration => ({
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'PriorityLevelConfiguration',
      metadata: { name, annotations: { [autoUpdateAnnotation]: value } },
      spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
    })
    await test.client.create(priorityLevelConfigurations, make('former', 'true'))
    await test.client.create(priorityLevelConfigurations, make('own', 'false'))
    await review(test)
    expect(names(await levelsOf(test))).toContain('own')
    expect(names(await levelsOf(test))).not.toContain('former')
  })

  it('tells of schemas whose level is not there, and when it comes', async () => {
    const test = await startTestCore()
    const { client, environment } = test
    await client.create(flowSchemas, {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'FlowSchema',
      metadata: { name: 'mine' },
      spec: { priorityLevelConfiguration: { name: 'own' }, matchingPrecedence: 0 },
    })
    const condition = async () => {
      await environment.clock.settle()
      return dangling(await client.get(flowSchemas, { name: 'mine' }))
    }
    expect(await condition()).toMatchObject({
      status: 'True',
      reason: 'NotFound',
      message:
        'This FlowSchema references the PriorityLevelConfiguration object named "own" but there is no such object',
    })
    await client.create(priorityLevelConfigurations, {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'PriorityLevelConfiguration',
      metadata: { name: 'own' },
      spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
    })
    expect(await condition()).toMatchObject({
      status: 'False',
      reason: 'Found',
      message: 'This FlowSchema references the PriorityLevelConfiguration object named "own" and it exists',
    })
  })
})
