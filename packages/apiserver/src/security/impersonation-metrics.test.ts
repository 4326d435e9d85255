import { createMetricsRegistry, type MetricsRegistry, VirtualClock } from '@coracle/environment'
import { beforeEach, expect, it } from 'vitest'
import type { RequestAttributes, User } from '../request.ts'
import type { Authorize } from './acting-as.ts'
import { refusalOf } from './authorize.ts'
import { ImpersonationMetrics } from './impersonation-metrics.ts'

const requester: User = { name: 'bob', groups: ['system:authenticated'] }
const asked = { name: 'eve', groups: [], uid: '', extra: new Map() }
const request: RequestAttributes = { kind: 'path', verb: 'get', path: '/version' }

let metrics: MetricsRegistry
let counts: ImpersonationMetrics
beforeEach(() => {
  metrics = createMetricsRegistry()
  counts = new ImpersonationMetrics(metrics, new VirtualClock())
})

const allowing =
  (...verbs: readonly string[]): Authorize =>
  (user, attributes) => {
    if (!verbs.includes(attributes.verb)) throw refusalOf(user, attributes, '')
  }

/** The series of a metric that are not zero: `user-info allowed 1`. */
const seriesOf = (name: string) =>
  metrics
    .text()
    .split('\n')
    .flatMap((line) => {
      const [, mode, decision, count] =
        new RegExp(`^apiserver_impersonation_${name}\\{mode="(.*)",decision="(.*)"\\} (\\d+)$`).exec(line) ?? []
      return mode === undefined ? [] : [`${mode} ${decision} ${count}`.trim()]
    })

it('counts a mode that lets one be somebody, and both questions that were asked of it', () => {
  counts.actAs(allowing('impersonate:user-info', 'impersonate-on:user-info:get'), { requester, asked, request })
  expect(seriesOf('attempts_total')).toEqual(['user-info allowed 1'])
  expect(seriesOf('authorization_attempts_total')).toEqual(['user-info allowed 2'])
  expect(seriesOf('attempts_duration_seconds_count')).toEqual(['user-info allowed 1'])
  expect(seriesOf('authorization_attempts_duration_seconds_count')).toEqual(['user-info allowed 2'])
})

it('counts the right that is not constrained, after the mode that was tried before', () => {
  counts.actAs(allowing('impersonate'), { requester, asked, request })
  expect(seriesOf('attempts_total')).toEqual(['legacy allowed 1'])
  expect(seriesOf('authorization_attempts_total')).toEqual(['user-info denied 1', 'legacy allowed 1'])
})

it('counts who may be nobody else under no mode', () => {
  expect(() => counts.actAs(allowing(), { requester, asked, request })).toThrow('cannot impersonate-on:user-info:get')
  expect(seriesOf('attempts_total')).toEqual(['denied 1'])
  expect(seriesOf('authorization_attempts_total')).toEqual(['user-info denied 1', 'legacy denied 1'])
})
