import { expect, it } from 'vitest'
import { registrationProblem } from './plugin-info.ts'

const info = { type: 'CSIPlugin', name: 'd', endpoint: '/d.sock', supportedVersions: ['1.0.0'] }
const invalid = 'RegisterPlugin error -- plugin validation failed with err: '

it.each([
  ['a driver', {}, undefined],
  ['one that speaks other versions, too', { supportedVersions: ['0.3.0', '1.12.0'] }, undefined],
  ['one that says them as Go does', { supportedVersions: ['v1'] }, undefined],
  [
    'one that speaks none',
    { supportedVersions: [] },
    `${invalid}CSI driver reporting empty array for supported versions`,
  ],
  [
    'one that speaks former ones',
    { supportedVersions: ['0.3.0', '10.0'] },
    `${invalid}none of the CSI versions ["0.3.0","10.0"] reported by this driver are supported`,
  ],
  [
    'a driver of devices',
    { type: 'DRAPlugin' },
    'RegisterPlugin error -- no handler registered for plugin type: DRAPlugin at socket /r.sock',
  ],
])('%s', (_, more, problem) => {
  expect(registrationProblem({ ...info, ...more }, '/r.sock')).toBe(problem)
})
