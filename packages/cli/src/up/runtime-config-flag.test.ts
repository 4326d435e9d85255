import { describe, expect, it } from 'vitest'
import { formerVersionsOf } from './runtime-config-flag.ts'

describe('--runtime-config', () => {
  it.each([
    [undefined, {}],
    [['batch/v1beta1'], { formerVersions: ['batch/v1beta1'] }],
    [['policy/v1beta1=true', ' batch/v1beta1'], { formerVersions: ['batch/v1beta1', 'policy/v1beta1'] }],
    [['policy/v1beta1', 'policy/v1beta1=false'], {}],
  ])('reads %j', (runtimeConfig, options) => {
    expect(formerVersionsOf(runtimeConfig === undefined ? {} : { runtimeConfig })).toEqual(options)
  })

  it('names what there is where it is given something else', () => {
    expect(() => formerVersionsOf({ runtimeConfig: ['extensions/v1beta1=true'] })).toThrow(
      '--runtime-config: "extensions/v1beta1" is no version that can be served beside the usual ones: there are batch/v1beta1, policy/v1beta1, rbac.authorization.k8s.io/v1beta1',
    )
    expect(() => formerVersionsOf({ runtimeConfig: ['batch/v1beta1=yes'] })).toThrow(
      '--runtime-config: "batch/v1beta1=yes" says neither batch/v1beta1=true nor batch/v1beta1=false',
    )
  })
})
