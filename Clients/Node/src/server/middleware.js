// Answers requests of node:http, and so of Express, with a handler of the web's Request and Response.

/**
 * Answers a request of Express or node:http. `limit` returns the most bytes of a path's bodies, or undefined if the path isn't
 * the handler's; Express then looks on.
 */
export function serve(handler, limit, request, response, next) {
  const work = answer(handler, limit, request, response, next)
  // The handler never rejects, so an error here is about the application or the connection.
  work.catch((error) => {
    if (next !== undefined) next(error)
    else response.destroy()
  })
}

async function answer(handler, limit, request, response, next) {
  const path = request.url.startsWith('/') ? request.url.split('?', 1)[0] : ''
  const most = limit(path)
  if (most === undefined && next !== undefined) return next()
  const hasBody = !['GET', 'HEAD'].includes(request.method)
  const body = hasBody && most !== undefined ? await read(request, most) : undefined
  if (body === null) return
  await write(await handler(asWeb(request, path, body), request), response)
}

/** Returns the body, or the first bytes of one that is too large, or null if the connection ended. */
async function read(request, most) {
  if (request.readableEnded) {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers
    if (coding === undefined && !(Number(length) > 0)) return Buffer.alloc(0)
    throw new Error('another middleware has read the body: app.use(router.middleware) must come before express.json()')
  }
  const chunks = []
  let length = 0
  return new Promise((resolve) => {
    const finish = (result) => {
      request.off('data', take).off('end', end).off('close', cut).off('error', cut)
      resolve(result)
    }
    const take = (chunk) => {
      chunks.push(chunk)
      length += chunk.length
      if (length <= most) return
      // The rest is read and dropped, so that the client gets the response.
      request.resume()
      finish(Buffer.concat(chunks))
    }
    const end = () => finish(Buffer.concat(chunks))
    const cut = () => finish(null)
    request.on('data', take).on('end', end).on('close', cut).on('error', cut)
  })
}

function asWeb(request, path, body) {
  const { method } = request
  const url = `http://localhost${path.startsWith('/') ? path : '/'}`
  const headers = new Headers()
  for (let at = 0; at < request.rawHeaders.length; at += 2) headers.append(request.rawHeaders[at], request.rawHeaders[at + 1])
  try {
    return new Request(url, { method, headers, body })
  } catch {
    // Methods such as TRACE, which the web's Request refuses, and so does the router.
    return { method, url, headers, body: null }
  }
}

async function write(result, response) {
  const body = Buffer.from(await result.arrayBuffer())
  for (const [name, value] of result.headers) response.setHeader(name, value)
  response.statusCode = result.status
  if (result.status !== 204) response.setHeader('content-length', body.length)
  response.end(body)
}
