import { expect, it } from 'vitest'
import { columnNames, decoded, problemsOfCreate, row } from '../../../test/requests.ts'
import { podTemplates } from './pod-template.ts'

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } }

it('has the defaults of a pod spec', () => {
  expect(decoded(podTemplates, { template }).template?.spec).toMatchObject({ restartPolicy: 'Always' })
  expect(problemsOfCreate(podTemplates, { template })).toEqual([])
  expect(problemsOfCreate(podTemplates, {})).toEqual(['template.spec.containers: Required value'])
})

it('shows what its pods run in a table', () => {
  expect(columnNames(podTemplates)).toEqual({ shown: ['Name', 'Containers', 'Images', 'Pod Labels'], wide: [] })
  expect(row(podTemplates, { template }, 0)).toEqual({
    Name: 'x',
    Containers: 'web',
    Images: 'nginx',
    'Pod Labels': 'app=web',
  })
})
