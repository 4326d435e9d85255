import { describe, expect, it } from 'vitest'
import { builtinResources } from '../kinds/builtin-kinds.ts'
import { apiVersionOf } from '../resource.ts'
import { compile } from '../schema/compile.ts'
import { convertFormerVersion } from './former-versions.ts'

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } }
const selector = { matchLabels: { app: 'web' } }

/** The spec in today's version, as strict about fields as a server. */
function specOf(apiVersion: string, kind: string, spec: unknown): unknown {
  const converted = convertFormerVersion({ apiVersion, kind, metadata: { name: 'x' }, spec })
  const resource = builtinResources.find((each) => each.kind === kind && apiVersionOf(each) === converted?.apiVersion)
  if (resource === undefined) throw new Error(`no ${kind} in ${converted?.apiVersion}`)
  compile(resource.schema).decode(converted?.object, { fieldValidation: 'Strict' })
  return converted?.object.spec
}

describe('a manifest of a version that is served no more', () => {
  it.each<readonly [string, string, unknown, unknown]>([
    [
      'extensions/v1beta1',
      'Deployment',
      { template, rollbackTo: { revision: 1 } },
      {
        template,
        selector,
        revisionHistoryLimit: 2147483647,
        progressDeadlineSeconds: 2147483647,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
      },
    ],
    [
      'extensions/v1beta1',
      'Deployment',
      { template, revisionHistoryLimit: 3, progressDeadlineSeconds: 9, strategy: { type: 'Recreate' } },
      { template, selector, revisionHistoryLimit: 3, progressDeadlineSeconds: 9, strategy: { type: 'Recreate' } },
    ],
    ['apps/v1beta1', 'Deployment', { template }, { template, selector, revisionHistoryLimit: 2 }],
    ['apps/v1beta2', 'Deployment', { template, selector }, { template, selector }],
    ['extensions/v1beta1', 'ReplicaSet', { template }, { template, selector }],
    [
      'extensions/v1beta1',
      'DaemonSet',
      { template, templateGeneration: 4 },
      { template, selector, updateStrategy: { type: 'OnDelete' } },
    ],
    [
      'apps/v1beta1',
      'StatefulSet',
      { template, serviceName: 'db', updateStrategy: { type: 'RollingUpdate' } },
      { template, serviceName: 'db', selector, updateStrategy: { type: 'RollingUpdate' } },
    ],
    [
      'batch/v2alpha1',
      'CronJob',
      { schedule: '@daily', jobTemplate: { spec: { template } } },
      { schedule: '@daily', jobTemplate: { spec: { template } } },
    ],
    ['policy/v1beta1', 'PodDisruptionBudget', { minAvailable: 1, selector }, { minAvailable: 1, selector }],
    [
      'policy/v1beta1',
      'PodDisruptionBudget',
      { minAvailable: 1, selector: {} },
      {
        minAvailable: 1,
        selector: {
          matchExpressions: [{ key: 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match', operator: 'Exists' }],
        },
      },
    ],
    [
      'extensions/v1beta1',
      'Ingress',
      {
        backend: { serviceName: 'web', servicePort: 80 },
        rules: [{ host: 'a', http: { paths: [{ path: '/', backend: { serviceName: 'web', servicePort: 'http' } }] } }],
      },
      {
        defaultBackend: { service: { name: 'web', port: { number: 80 } } },
        rules: [
          {
            host: 'a',
            http: {
              paths: [
                {
                  path: '/',
                  pathType: 'ImplementationSpecific',
                  backend: { service: { name: 'web', port: { name: 'http' } } },
                },
              ],
            },
          },
        ],
      },
    ],
    [
      'autoscaling/v2beta1',
      'HorizontalPodAutoscaler',
      {
        scaleTargetRef: { kind: 'Deployment', name: 'web' },
        maxReplicas: 5,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 60 } },
          { type: 'Pods', pods: { metricName: 'hits', targetAverageValue: '10' } },
          { type: 'Object', object: { target: { kind: 'Service', name: 's' }, metricName: 'hits', targetValue: '5' } },
          { type: 'External', external: { metricName: 'queue', metricSelector: selector, targetAverageValue: '2' } },
        ],
      },
      {
        scaleTargetRef: { kind: 'Deployment', name: 'web' },
        maxReplicas: 5,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
          { type: 'Pods', pods: { metric: { name: 'hits' }, target: { type: 'AverageValue', averageValue: '10' } } },
          {
            type: 'Object',
            object: {
              describedObject: { kind: 'Service', name: 's' },
              metric: { name: 'hits' },
              target: { type: 'Value', value: '5' },
            },
          },
          {
            type: 'External',
            external: {
              metric: { name: 'queue', selector },
              target: { type: 'AverageValue', averageValue: '2' },
            },
          },
        ],
      },
    ],
  ])('%s %s of %j is read as today’s', (apiVersion, kind, spec, expected) => {
    expect(specOf(apiVersion, kind, spec)).toEqual(expected)
  })

  it('has the labels of its template where it has none', () => {
    const object = { apiVersion: 'extensions/v1beta1', kind: 'Deployment', metadata: { name: 'x' }, spec: { template } }
    expect(convertFormerVersion(object)?.object.metadata).toEqual({ name: 'x', labels: { app: 'web' } })
  })

  it('is none of today, and none that there never was', () => {
    expect(convertFormerVersion({ apiVersion: 'apps/v1', kind: 'Deployment' })).toBeUndefined()
    expect(convertFormerVersion({ apiVersion: 'apps/v1beta1', kind: 'Job' })).toBeUndefined()
  })
})
