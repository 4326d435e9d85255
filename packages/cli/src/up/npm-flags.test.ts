import { describe, expect, it } from 'vitest'
import { hasNpmTakenFile, refuseFlagsOfNpm } from './npm-flags.ts'

const flags = ['--filename', '--data-dir', '--nodes']
const npmStart = { npm_lifecycle_event: 'start' }

describe('flags that npm start keeps', () => {
  it('are refused with the form that works', () => {
    expect(() => refuseFlagsOfNpm({ ...npmStart, npm_config_data_dir: 'x' }, flags)).toThrow(
      'npm has taken --data-dir for a flag of its own: write it after --, as in npm start -- --data-dir …',
    )
  })

  it.each([
    ['npm keeps none of ours', { ...npmStart, npm_config_force: 'true' }],
    ['another script runs', { npm_lifecycle_event: 'test', npm_config_nodes: '3' }],
    ['npm is not there', { npm_config_nodes: '3' }],
  ])('are no matter where %s', (_, variables) => {
    expect(() => refuseFlagsOfNpm(variables, flags)).not.toThrow()
  })

  it('may be -f, whose file is passed on', () => {
    expect(hasNpmTakenFile({ ...npmStart, npm_config_force: 'true' })).toBe(true)
    expect(hasNpmTakenFile(npmStart)).toBe(false)
    expect(hasNpmTakenFile({ npm_config_force: 'true' })).toBe(false)
  })
})
