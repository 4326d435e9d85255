import { expect, it } from 'vitest'
import { resourcesRequest } from './requests.ts'

it('all of a container ends where one of its processes is killed for want of memory, where the kernel can be told so', () => {
  const resources = { cpuShares: 2, cpuQuota: 0, cpuPeriod: 100_000, memoryLimitBytes: 1024, oomScoreAdj: 999 }
  expect(resourcesRequest(resources, true)).toMatchObject({ unified: { 'memory.oom.group': '1' } })
  expect(resourcesRequest(resources, false)).not.toHaveProperty('unified')
})
