import { describe, expect, it } from 'vitest'
import { structForm } from './struct-form.ts'

const written = (struct: string, value: unknown): string => JSON.stringify(structForm(struct, value))

describe('a value in a struct of upstream', () => {
  it('has all fields under their names in Go', () => {
    expect(written('core.Taint', { effect: 'NoSchedule', key: 'a' })).toBe(
      '{"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}',
    )
  })

  it('has the metadata of a template among its own fields, as JSON has them', () => {
    const template = { metadata: { labels: { b: '1', a: '2' }, name: 'n' }, spec: {} }
    expect(written('core.PodTemplateSpec', template)).toMatch(
      /^\{"name":"n","labels":\{"a":"2","b":"1"\},"Spec":\{"Volumes":null,"InitContainers":null,"Containers":null,/,
    )
  })

  it('has what pods share with their host in their security context', () => {
    const pod = structForm('core.PodSpec', { hostNetwork: true, securityContext: { runAsUser: 1 } })
    expect(pod).toMatchObject({
      SecurityContext: { HostNetwork: true, HostPID: false, HostUsers: null, RunAsUser: 1, FSGroup: null },
    })
    expect(pod).not.toHaveProperty('HostNetwork')
  })

  it('has the fields of embedded structs as its own', () => {
    const probe = { httpGet: { port: 'http' }, periodSeconds: 5 }
    expect(structForm('core.PodSpec', { containers: [{ name: 'a', livenessProbe: probe }] })).toMatchObject({
      Containers: [
        {
          Name: 'a',
          Resources: { Limits: null, Requests: null, Claims: null },
          LivenessProbe: { Exec: null, HTTPGet: { Port: 'http', Scheme: '' }, PeriodSeconds: 5 },
          TTY: false,
        },
      ],
    })
  })

  it('has selectors with the names of JSON, and keys of maps in their order', () => {
    const selector = { matchExpressions: [{ operator: 'In', key: 'k', values: ['v'] }], matchLabels: { b: '', a: '' } }
    expect(written('metav1.LabelSelector', selector)).toBe(
      '{"matchLabels":{"a":"","b":""},"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}',
    )
  })

  it('is a list where several are shown, and null where there is none', () => {
    expect(written('core.PodIP', [{ ip: '10.0.0.1' }, {}])).toBe('[{"IP":"10.0.0.1"},{"IP":""}]')
    expect(written('resource.AllocationResult', undefined)).toBe('null')
  })

  it('has no member of an object that is not its own', () => {
    expect(written('core.Taint', JSON.parse('{"__proto__":{"key":"x"},"constructor":1}'))).toBe(
      '{"Key":"","Value":"","Effect":"","TimeAdded":null}',
    )
  })
})
