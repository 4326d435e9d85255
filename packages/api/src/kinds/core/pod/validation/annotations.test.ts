import { describe, expect, it } from 'vitest'
import { describeFieldError } from '../../../../field-error.ts'
import { FieldPath } from '../../../../field-path.ts'
import { storedPod } from '../pod-fixtures.ts'
import { annotationErrors, profileMismatches } from './annotations.ts'

const mirror = 'kubernetes.io/config.mirror'
const cost = 'controller.kubernetes.io/pod-deletion-cost'
const tolerations = 'scheduler.alpha.kubernetes.io/tolerations'
const seccomp = 'seccomp.security.alpha.kubernetes.io/pod'
const ofContainer = 'container.seccomp.security.alpha.kubernetes.io/web'
const appArmor = 'container.apparmor.security.beta.kubernetes.io/'

describe('annotations of a pod', () => {
  it.each<[string, string, readonly string[]]>([
    [mirror, 'a', [`[${mirror}]: Invalid value: "a": must set spec.nodeName if mirror pod annotation is set`]],
    [cost, '0', []],
    [cost, '-5', []],
    [cost, '2147483648', [`[${cost}]: Invalid value: "2147483648": must be a 32bit integer`]],
    ...['', '+10', '008', 'text', '1.5'].map((value): [string, string, string[]] => [
      cost,
      value,
      [`[${cost}]: Invalid value: "${value}": must be a 32bit integer`],
    ]),
    [tolerations, '[{"key":"a","operator":"Exists"}]', []],
    [
      tolerations,
      '[{"key":"a","operator":"Exists","value":"b"}]',
      [`.${tolerations}[0].operator: Invalid value: "b": value must be empty when \`operator\` is 'Exists'`],
    ],
    [seccomp, 'docker/default', []],
    [seccomp, 'localhost/profiles/a.json', []],
    [seccomp, 'localhost//a', [`.${seccomp}: Invalid value: "/a": must be a relative path`]],
    [seccomp, 'localhost/../a', [`.${seccomp}: Invalid value: "../a": must not contain '..'`]],
    [ofContainer, 'mine', [`.${ofContainer}: Invalid value: "mine": must be a valid seccomp profile`]],
    [`${appArmor}web`, 'localhost/mine', []],
    [`${appArmor}web`, 'mine', [`[${appArmor}web]: Invalid value: "mine": invalid AppArmor profile name: "mine"`]],
    [`${appArmor}x`, 'unconfined', [`[${appArmor}x]: Invalid value: "x": container not found`]],
  ])('%s: %j', (key, value, expected) => {
    const found = annotationErrors({ [key]: value }, storedPod().spec, FieldPath.of('a')).map(describeFieldError)
    expect(found).toEqual(expected.map((each) => `a${each}`))
  })

  it('mark a pod of a node as one', () => {
    expect(annotationErrors({ [mirror]: 'a' }, storedPod({ nodeName: 'n' }).spec, FieldPath.of('a'))).toEqual([])
  })
})

describe('a profile given twice', () => {
  const pod = (profiles: object) => storedPod({ securityContext: profiles }).spec
  const container = (profiles: object) =>
    storedPod({ containers: [{ name: 'web', image: 'x', securityContext: profiles }] }).spec
  const localhost = { type: 'Localhost', localhostProfile: 'a' }
  const typeDiffers = (what: string) => `.type: Forbidden: ${what} type in annotation and field must match`
  const profileDiffers = (what: string) =>
    `.localhostProfile: Forbidden: ${what} profile in annotation and field must match`

  it.each<[string, string, object, readonly string[]]>([
    [seccomp, 'docker/default', pod({ seccompProfile: { type: 'RuntimeDefault' } }), []],
    [seccomp, 'unconfined', pod({ seccompProfile: { type: 'RuntimeDefault' } }), [typeDiffers('seccomp')]],
    [seccomp, 'localhost/a', pod({ seccompProfile: localhost }), []],
    [seccomp, 'localhost/b', pod({ seccompProfile: localhost }), [profileDiffers('seccomp')]],
    [seccomp, 'unconfined', pod({ seccompProfile: localhost }), [typeDiffers('seccomp')]],
    [ofContainer, 'runtime/default', container({ seccompProfile: { type: 'Unconfined' } }), [typeDiffers('seccomp')]],
    [`${appArmor}web`, 'localhost/b', container({ appArmorProfile: localhost }), [profileDiffers('apparmor')]],
    [`${appArmor}web`, 'unconfined', pod({ appArmorProfile: { type: 'RuntimeDefault' } }), [typeDiffers('apparmor')]],
    [`${appArmor}web`, 'runtime/default', pod({ appArmorProfile: { type: 'RuntimeDefault' } }), []],
  ])('%s %s: %j', (key, value, spec, expected) => {
    const found = profileMismatches({ annotations: { [key]: value } }, spec as never, FieldPath.of('s'))
    const of = key === seccomp ? 'securityContext' : 'containers[0].securityContext'
    const field = key.startsWith(appArmor) ? 'appArmorProfile' : 'seccompProfile'
    expect(found.map(describeFieldError)).toEqual(expected.map((each) => `s.${of}.${field}${each}`))
  })

  it('is not looked at for AppArmor on Windows', () => {
    const spec = { ...container({ appArmorProfile: localhost }), os: { name: 'windows' } as const }
    expect(profileMismatches({ annotations: { [`${appArmor}web`]: 'unconfined' } }, spec, FieldPath.of('s'))).toEqual(
      [],
    )
  })
})
