import type { IncomingMessage } from 'node:http'
import { type RawRequest, type ResponseBody, responseBytesMax, serverError, type Transport } from '@coracle/client'
import { realClock } from '@coracle/environment'
import type { ApiCore } from '../api-core.ts'
import { asksToWatch, parseQuery } from '../http/query.ts'
import { attributesOf, routeOf } from '../http/routes.ts'
import type { User } from '../request.ts'
import { RemoteUnavailableError } from './aggregator.ts'

/** How long another server may take for its answer, as upstream. */
const requestTimeoutMs = 60_000

/** The way of clients in process to servers behind this one: with the same rights as over HTTP. A virtual clock waits for it. */
export function remoteTransport(core: ApiCore, user: User): Transport {
  const { clock } = core.environment

  const open = async (request: RawRequest, signal: AbortSignal): Promise<IncomingMessage> => {
    const { method, path, accept, contentType, body } = request
    const mark = path.indexOf('?')
    const [pathOnly, search] = mark < 0 ? [path, ''] : [path.slice(0, mark), path.slice(mark + 1)]
    const query = parseQuery(search)
    const route = routeOf(method, pathOnly, () => asksToWatch(query))
    const attributes =
      route.kind === 'path' ? route : attributesOf(route, undefined, () => query.get('fieldSelector') ?? '')
    core.authorize(user, attributes)
    const [, , group = '', version = ''] = pathOnly.split('/')
    const headers = {
      Accept: accept ?? 'application/json',
      'User-Agent': 'coracle',
      ...(contentType === undefined ? {} : { 'Content-Type': contentType }),
    }
    const answer = await core.aggregator.forward(group, version, user, { method, path, headers, body, signal })
    const code = answer.statusCode ?? 0
    if (code >= 400) throw serverError(method, code, await textOf(answer))
    return answer
  }

  const withinTime = async <T>(request: RawRequest, act: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const deadline = new AbortController()
    const timer = realClock.setTimer(requestTimeoutMs, () => deadline.abort(new Error('context deadline exceeded')))
    const { signal = deadline.signal } = request
    try {
      return await clock.hold(act(AbortSignal.any([signal, deadline.signal])))
    } catch (error) {
      throw error instanceof RemoteUnavailableError ? serverError(request.method, 503, error.message) : error
    } finally {
      timer.cancel()
    }
  }

  return {
    send: (request) =>
      withinTime(request, async (signal) => {
        const answer = await open(request, signal)
        return { code: answer.statusCode ?? 0, headers: answer.headers, body: await textOf(answer) }
      }),
    async open(request): Promise<ResponseBody> {
      const gone = new AbortController()
      const { signal = gone.signal } = request
      const answer = await withinTime(request, () => open(request, AbortSignal.any([signal, gone.signal])))
      answer.on('error', () => {})
      return { [Symbol.asyncIterator]: () => answer[Symbol.asyncIterator](), destroy: () => gone.abort() }
    },
    close: async () => {},
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > responseBytesMax) throw new RangeError(`the answer is longer than ${responseBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
