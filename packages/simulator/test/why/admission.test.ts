import {
  daemonSets,
  deployments,
  limitRanges,
  namespaces,
  pods,
  priorityClasses,
  resourceQuotas,
  statefulSets,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  validatingWebhookConfigurations,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { container, Situation, selector, templateOf } from './situation.ts'

const web = (spec: object = {}, replicas = 2) => ({ spec: { replicas, selector, template: templateOf(spec) } })
const asking = (cpu: string) => ({ containers: [{ ...container, resources: { requests: { cpu }, limits: { cpu } } }] })

describe('why pods are refused', () => {
  it('exceed a quota', async () => {
    await using situation = await Situation.start()
    await situation.create(resourceQuotas, 'few', { spec: { hard: { pods: '1' } } })
    await situation.passes('1s')
    await situation.create(deployments, 'web', web())
    await situation.passes('10s')
    const set = await situation.onlySet()
    expect(await situation.cause(deployments, 'web')).toMatch(
      new RegExp(
        `^QuotaExceeded of \\w+/(web|${set}): pods "web-.*" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1$`,
      ),
    )
    expect(await situation.remedy(deployments, 'web')).toMatch(/^raise resourcequota\/few/)
    await situation.patch(resourceQuotas, 'few', { spec: { hard: { pods: '2' } } })
    await situation.passes('3m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('do not say what a quota counts', async () => {
    await using situation = await Situation.start()
    await situation.create(resourceQuotas, 'cpu', { spec: { hard: { 'requests.cpu': '4' } } })
    await situation.passes('1s')
    await situation.create(deployments, 'web', web())
    await situation.passes('10s')
    expect(await situation.cause(deployments, 'web')).toMatch(/^QuotaNeedsValues of /)
    expect(await situation.remedy(deployments, 'web')).toMatch(/^set requests\.cpu in the template/)
    await situation.create(limitRanges, 'defaults', {
      spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '100m' } }] },
    })
    await situation.passes('3m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('violate what their namespace enforces', async () => {
    await using situation = await Situation.start()
    const enforce = (level: string | null) =>
      situation.patch(namespaces, 'default', { metadata: { labels: { 'pod-security.kubernetes.io/enforce': level } } })
    await enforce('baseline')
    await situation.create(deployments, 'web', web({ hostNetwork: true }))
    await situation.passes('10s')
    expect(await situation.cause(deployments, 'web')).toMatch(
      /^PodSecurityViolated of .*pods "web-\w+-\w+" is forbidden: violates PodSecurity "baseline:latest": host namespaces \(hostNetwork=true\)$/,
    )
    expect(await situation.remedy(deployments, 'web')).toBe(
      'give the pods a security context that fits baseline:latest, or change the label of the namespace',
    )
    await enforce(null)
    await situation.passes('3m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('ask for more than a LimitRange allows', async () => {
    await using situation = await Situation.start()
    await situation.create(limitRanges, 'small', { spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } })
    await situation.create(deployments, 'web', web(asking('2')))
    await situation.passes('10s')
    expect(await situation.cause(deployments, 'web')).toMatch(
      /^LimitRangeExceeded of .*maximum cpu usage per Container is 1/,
    )
    await situation.replaceTemplate(deployments, 'web', templateOf(asking('1')))
    await situation.passes('1m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('are denied by a policy', async () => {
    await using situation = await Situation.start()
    await situation.create(validatingAdmissionPolicies, 'no-latest', {
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
        validations: [
          { expression: "object.spec.containers.all(c, c.image.contains(':2'))", message: 'version 2 only' },
        ],
      },
    })
    await situation.create(validatingAdmissionPolicyBindings, 'no-latest', {
      spec: { policyName: 'no-latest', validationActions: ['Deny'] },
    })
    await situation.passes('5s')
    await situation.create(deployments, 'web', web())
    await situation.passes('10s')
    expect(await situation.cause(deployments, 'web')).toMatch(
      /^DeniedByPolicy of .*ValidatingAdmissionPolicy 'no-latest' with binding 'no-latest' denied request: version 2 only/,
    )
    expect(await situation.remedy(deployments, 'web')).toContain('validatingadmissionpolicy/no-latest')
    await situation.replaceTemplate(
      deployments,
      'web',
      templateOf({ containers: [{ ...container, image: 'example/web:2' }] }),
    )
    await situation.passes('1m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('meet a webhook that cannot be asked', async () => {
    await using situation = await Situation.start()
    await situation.create(validatingWebhookConfigurations, 'guard', {
      webhooks: [
        {
          name: 'guard.example.dev',
          clientConfig: { url: 'https://127.0.0.1:1/check' },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          failurePolicy: 'Fail',
        },
      ],
    })
    await situation.passes('1s')
    await situation.create(deployments, 'web', web({}, 1))
    await situation.passes('10s')
    expect(await situation.cause(deployments, 'web')).toMatch(
      /^WebhookFailed of .*failed calling webhook "guard\.example\.dev"/,
    )
    expect(await situation.remedy(deployments, 'web')).toMatch(
      /^see that webhook guard\.example\.dev is reachable.*failurePolicy: Ignore/,
    )
    await situation.delete(validatingWebhookConfigurations, 'guard')
    await situation.passes('3m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('name a priority that is not there', async () => {
    await using situation = await Situation.start()
    const urgent = { spec: { selector, template: templateOf({ priorityClassName: 'urgent' }) } }
    await situation.create(daemonSets, 'web', urgent)
    await situation.passes('10s')
    expect(await situation.cause(daemonSets, 'web')).toMatch(/^PriorityClassMissing of daemonset\/web: /)
    expect(await situation.remedy(daemonSets, 'web')).toMatch(/^create priorityclass\/urgent/)
    await situation.create(priorityClasses, 'urgent', { value: 10 })
    await situation.passes('20m')
    expect(await situation.verdict(daemonSets, 'web')).toBe('fine')
  })

  it('leave nothing behind but an event of whoever wanted them', async () => {
    await using situation = await Situation.start()
    await situation.create(resourceQuotas, 'none', { spec: { hard: { pods: '0' } } })
    await situation.passes('1s')
    await situation.create(statefulSets, 'db', {
      spec: { replicas: 1, serviceName: 'db', selector, template: templateOf() },
    })
    await situation.passes('10s')
    expect(await situation.why(pods, 'db-0')).toMatchObject({
      verdict: 'gone',
      findings: [
        {
          reason: 'QuotaExceeded',
          what: 'it was to be created, and was refused',
          because: expect.stringMatching(/^statefulset\/db: Create Pod db-0/),
        },
      ],
    })
    await expect(situation.why(pods, 'db-1')).rejects.toThrow('pods "db-1" not found')
    expect(await situation.cause(statefulSets, 'db')).toMatch(/^QuotaExceeded of statefulset\/db/)
    await situation.delete(resourceQuotas, 'none')
    await situation.passes('20m')
    expect(await situation.verdict(statefulSets, 'db')).toBe('fine')
  })
})
