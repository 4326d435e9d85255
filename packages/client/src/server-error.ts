import { ApiError, type Status } from '@coracle/api'

/** The error a response stands for: its Status, or where it has none, what its code means (apimachinery's api/errors). */
export function serverError(method: string, code: number, body: string): ApiError {
  const status = parseStatus(body)
  if (status !== undefined) return ApiError.from(status)
  const [reason, message] = meaningOf(method, code, body.trim())
  return new ApiError(code, reason, message)
}

function parseStatus(body: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(body)
    const isStatus =
      typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status' && 'code' in value
    return isStatus ? (value as Status) : undefined
  } catch {
    return undefined
  }
}

function meaningOf(method: string, code: number, body: string): readonly [reason: string, message: string] {
  switch (code) {
    case 400:
      return ['BadRequest', 'the server rejected our request for an unknown reason']
    case 401:
      return ['Unauthorized', 'the server has asked for the client to provide credentials']
    case 403:
      return ['Forbidden', body === '' ? 'the server refuses this request' : body]
    case 404:
      return ['NotFound', 'the server could not find the requested resource']
    case 405:
      return ['MethodNotAllowed', 'the server does not allow this method on the requested resource']
    case 406:
      return ['NotAcceptable', 'the server was unable to respond with a content type that the client supports']
    case 409:
      return [method === 'POST' ? 'AlreadyExists' : 'Conflict', 'the server reported a conflict']
    case 410:
      return ['Expired', 'the server no longer has the version asked for']
    case 415:
      return ['UnsupportedMediaType', body === '' ? 'the server does not take this media type' : body]
    case 422:
      return ['Invalid', 'the server rejected our request due to an error in our request']
    case 429:
      return ['TooManyRequests', 'the server has received too many requests and has asked us to try again later']
    case 503:
      return ['ServiceUnavailable', 'the server is currently unable to handle the request']
    case 504:
      return [
        'Timeout',
        'the server was unable to return a response in the time allotted, but may still be processing the request',
      ]
    default:
      if (code >= 500)
        return [
          'InternalError',
          `an error on the server (${JSON.stringify(body)}) has prevented the request from succeeding`,
        ]
      return ['Unknown', `the server responded with the status code ${code} but did not return more information`]
  }
}
