import { createJsonPatch, type KubernetesObject, type Resource } from '@coracle/api'
import type { Logger } from '@coracle/environment'
import type { Webhook } from './webhook.ts'

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** What somebody wants to do with an object. */
export interface AdmissionRequest<T extends KubernetesObject> {
  readonly uid: string
  readonly operation: AdmissionOperation
  /** The object as it would be; undefined on DELETE. */
  readonly object: T | undefined
  /** The object as it is; undefined on CREATE. */
  readonly oldObject: T | undefined
  readonly namespace: string | undefined
  /** Undefined where the server is to make the name. */
  readonly name: string | undefined
  /** Such as `status`; undefined for the object itself. */
  readonly subresource: string | undefined
  readonly user: {
    readonly username: string
    readonly uid?: string
    readonly groups?: readonly string[]
    readonly extra?: Readonly<Record<string, readonly string[]>>
  }
  /** Nothing will be stored: cause nothing outside either. */
  readonly dryRun: boolean
  /** The options of the call, such as DeleteOptions. */
  readonly options: Readonly<Record<string, unknown>> | undefined
  /** Aborted when the server no longer waits for the answer. */
  readonly signal: AbortSignal
  readonly logger: Logger
  /** Tells whoever asks something, whether it is allowed or not. */
  warn(text: string): void
}

/** Says no. Made by `deny`. */
export class Denial {
  readonly message: string
  readonly code: number
  readonly reason: string

  constructor(message: string, code: number, reason: string) {
    this.message = message
    this.code = code
    this.reason = reason
  }
}

/** Refuses a request; whoever made it reads the message. */
export function deny(message: string, { code = 403, reason = 'Forbidden' } = {}): Denial {
  return new Denial(message, code, reason)
}

export interface AdmissionWebhookOptions {
  /** What it is asked about; CREATE and UPDATE by default. */
  readonly operations?: readonly AdmissionOperation[]
  /** Whether requests fail (the default) or pass where it does not answer. */
  readonly failurePolicy?: 'Fail' | 'Ignore'
  /** How long the server waits; 10 s by default, 30 s at most. */
  readonly timeoutSeconds?: number
  /** Which objects it is asked about, by their labels. */
  readonly objectSelector?: Readonly<Record<string, string>>
}

/**
 * A webhook that may change objects before they are checked and stored: it returns the object as it should be, or a denial; or it
 * changes the object that it is given. The patch that says so is made of the object as it came and as it should be.
 */
export function mutatingWebhook<T extends KubernetesObject>(
  path: string,
  resource: Resource<T>,
  mutate: (request: AdmissionRequest<T>) => Mutation<T> | Promise<Mutation<T>>,
  options: AdmissionWebhookOptions = {},
): Webhook {
  return admissionWebhook('mutating', path, resource, options, async (request: AdmissionRequest<T>) => {
    const asked = structuredClone(request.object)
    const changed = await mutate(request)
    if (changed instanceof Denial) return changed
    const wanted = changed ?? request.object
    return wanted === undefined ? [] : createJsonPatch(asked, wanted)
  })
}

/** The object as it should be, nothing where that is the one of the request, or a refusal. */
export type Mutation<T> = T | Denial | undefined

/** A webhook that may refuse what is asked for: it returns a denial, or nothing where it agrees. */
export function validatingWebhook<T extends KubernetesObject>(
  path: string,
  resource: Resource<T>,
  validate: (request: AdmissionRequest<T>) => Verdict | Promise<Verdict>,
  options: AdmissionWebhookOptions = {},
): Webhook {
  return admissionWebhook('validating', path, resource, options, async (request: AdmissionRequest<T>) => {
    return (await validate(request)) ?? []
  })
}

export type Verdict = Denial | undefined

/** A refusal, or the patch of what is allowed. */
type Decision = Denial | ReturnType<typeof createJsonPatch>

function admissionWebhook<T extends KubernetesObject>(
  type: 'mutating' | 'validating',
  path: string,
  resource: Resource<T>,
  options: AdmissionWebhookOptions,
  decide: (request: AdmissionRequest<T>) => Promise<Decision>,
): Webhook {
  return {
    path,
    admission: { type, resource: resource as Resource, options },
    async answer(review, { signal, logger }) {
      const { apiVersion, kind, request } = review as Review<T>
      if (kind !== 'AdmissionReview' || typeof request?.uid !== 'string')
        throw new TypeError('not an AdmissionReview with a request')
      const warnings: string[] = []
      const response = await responseTo(request, warnings, logger, signal, decide)
      return {
        apiVersion,
        kind,
        response: { uid: request.uid, ...response, ...(warnings.length === 0 ? {} : { warnings }) },
      }
    },
  }
}

interface Review<T> {
  readonly apiVersion: string
  readonly kind: string
  readonly request?: {
    readonly uid: string
    readonly operation: AdmissionOperation
    readonly object?: T | null
    readonly oldObject?: T | null
    readonly namespace?: string
    readonly name?: string
    readonly subResource?: string
    readonly userInfo: AdmissionRequest<KubernetesObject>['user']
    readonly dryRun?: boolean
    readonly options?: Readonly<Record<string, unknown>> | null
  }
}

async function responseTo<T extends KubernetesObject>(
  asked: NonNullable<Review<T>['request']>,
  warnings: string[],
  logger: Logger,
  signal: AbortSignal,
  decide: (request: AdmissionRequest<T>) => Promise<Decision>,
): Promise<object> {
  const { uid, operation, namespace, userInfo, subResource, dryRun = false } = asked
  const about = { uid, operation, namespace, name: asked.name }
  try {
    const decision = await decide({
      ...about,
      name: asked.name || undefined,
      namespace: namespace || undefined,
      object: asked.object ?? undefined,
      oldObject: asked.oldObject ?? undefined,
      subresource: subResource || undefined,
      user: userInfo,
      dryRun,
      options: asked.options ?? undefined,
      signal,
      logger: logger.child(about),
      warn: (text) => warnings.push(text),
    })
    if (decision instanceof Denial) {
      const { message, code, reason } = decision
      return { allowed: false, status: { status: 'Failure', message, code, reason } }
    }
    if (decision.length === 0) return { allowed: true }
    return {
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(decision)).toString('base64'),
    }
  } catch (error) {
    logger.error('admission webhook failed', { ...about, error })
    const message = error instanceof Error ? error.message : String(error)
    return { allowed: false, status: { status: 'Failure', message, code: 500, reason: 'InternalError' } }
  }
}
