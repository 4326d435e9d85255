import { describe, expect, it } from 'vitest'
import { sandboxSecurity } from '../../isolation/security.ts'
import { testPod } from '../../testing/pods.ts'
import { sandboxConfig } from '../../testing/sandboxes.ts'
import type { SandboxIsolation } from '../runtime.ts'
import { resourcesRequest, sandboxRequest } from './requests.ts'

it('the control group of a container is told what else there is to say, where the kernel can be told so', () => {
  const resources = { cpuShares: 2, cpuQuota: 0, cpuPeriod: 100_000, memoryLimitBytes: 1024, oomScoreAdj: 999 }
  const unified = { 'memory.oom.group': '1' }
  expect(resourcesRequest(resources, unified)).toMatchObject({ unified })
  expect(resourcesRequest(resources, {})).not.toHaveProperty('unified')
})

describe('the request for a sandbox', () => {
  const amounts = { cpuShares: 512, cpuQuota: 50_000, cpuPeriod: 100_000, memoryLimitBytes: 1024 }
  const isolation: SandboxIsolation = {
    ...sandboxSecurity(testPod()),
    ...{ ownUsers: false, labels: {}, annotations: {}, portMappings: [], runtimeHandler: '', hostAliases: [] },
  }
  const linux = (more: Partial<SandboxIsolation>) =>
    sandboxRequest({ ...sandboxConfig(), isolation: { ...isolation, ...more } }, 'agent', '/logs').linux

  it('says what the pod may use, and what its runtime takes for itself', () => {
    const told = { cpuShares: 512, cpuQuota: 50_000, cpuPeriod: 100_000, memoryLimitInBytes: 1024 }
    expect(linux({ resources: amounts, overhead: amounts })).toMatchObject({ resources: told, overhead: told })
  })

  it('says nothing of it where a former agent has kept nothing of it', () => {
    expect(Object.keys(linux({}) ?? {})).toEqual(['securityContext', 'sysctls'])
  })
})
