import { expect, it } from 'vitest'
import type { KubernetesObject } from '../../meta.ts'
import { compile } from '../../schema/compile.ts'
import type { ObjectSchema } from '../../schema/schema.ts'
import { customResourceDefinitions } from '../apiextensions/custom-resource-definition.ts'
import { deployments } from '../apps/deployment/deployment.ts'

it.each([customResourceDefinitions, deployments])(
  'conditions of $plural say nothing that they must',
  ({ schema, plural }) => {
    const { decode, applyDefaults, validate } = compile(schema as ObjectSchema<KubernetesObject>)
    const body = { metadata: { name: 'a' }, status: { conditions: [{ message: 'updated' }] } }
    const decoded = applyDefaults(decode(body).value) as {
      readonly status?: { readonly conditions?: unknown }
    }
    // Go writes type and status in any case, since they may not be left out.
    expect(decoded.status?.conditions, plural).toEqual([{ type: '', status: '', message: 'updated' }])
    const ofConditions = validate(decoded as KubernetesObject).filter(({ field }) =>
      field.startsWith('status.conditions'),
    )
    expect(ofConditions).toEqual([])
  },
)
