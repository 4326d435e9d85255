import type { Environment } from '@coracle/environment'
import { ServiceResolver } from '../../aggregation/service-resolver.ts'
import type { Registries } from '../../registries.ts'
import type { Authorizer } from '../../request.ts'
import type { WorkTurns } from '../../work-turns.ts'
import type { AdmissionPlugin } from '../admission.ts'
import { mutatingWebhooks } from './mutating-webhooks.ts'
import { validatingWebhooks } from './validating-webhooks.ts'
import { WebhookClients } from './webhook-clients.ts'

/** The plugins that ask webhooks, and their connections. */
export interface AdmissionWebhooks {
  readonly mutating: AdmissionPlugin
  readonly validating: AdmissionPlugin
  /** Ends all connections: what is being asked fails. */
  close(): void
}

/** Asks the webhooks that the objects of `admissionregistration.k8s.io` configure. */
export function admissionWebhooks(
  registries: Registries,
  environment: Environment,
  authorizer: Authorizer,
  turns: WorkTurns,
): AdmissionWebhooks {
  const resolver = new ServiceResolver(registries)
  const clients = {
    mutating: new WebhookClients(environment, resolver),
    validating: new WebhookClients(environment, resolver),
  }
  const parts = { registries, environment, authorizer, turns }
  return {
    mutating: mutatingWebhooks({ ...parts, clients: clients.mutating }),
    validating: validatingWebhooks({ ...parts, clients: clients.validating }),
    close: () => {
      clients.mutating.close()
      clients.validating.close()
    },
  }
}
