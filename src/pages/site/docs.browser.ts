interface SwaggerUi {
  (options: Record<string, unknown>): unknown;
  presets: { apis: unknown };
}

interface Operation {
  parameters?: { required?: boolean; schema: { example?: unknown } }[];
  requestBody?: { content: Record<string, { schema: { properties?: Record<string, object> } }> };
}

/**
 * Shows the API in the page. Runs in the browser, and knows where the API is from its own address, so that requests
 * tried out go to where the page came from, under whatever name and path that is.
 */
export async function startReference(): Promise<void> {
  const script = document.currentScript;
  if (!(script instanceof HTMLScriptElement)) return;
  const base = new URL('..', script.src).href;
  const { SwaggerUIBundle } = globalThis as unknown as { SwaggerUIBundle: SwaggerUi };
  const answer = await fetch(new URL('api/openapi.json', base));
  const spec = (await answer.json()) as {
    servers: object[];
    paths: Record<string, Record<string, Operation>>;
  };
  spec.servers = [{ url: base.replace(/\/$/, '') }];
  for (const { parameters = [], requestBody } of Object.values(spec.paths).flatMap((path) =>
    Object.values(path),
  )) {
    // Examples are what is filled in; nobody wants somebody else's filter or key.
    for (const { required, schema } of parameters) if (!required) delete schema.example;
    for (const { schema } of Object.values(requestBody?.content ?? {})) {
      for (const field of Object.values(schema.properties ?? {})) {
        // The package takes every text of some media type for a file.
        if ('contentMediaType' in field && field.contentMediaType === 'application/json') {
          delete field.contentMediaType;
        }
      }
    }
  }
  SwaggerUIBundle({
    spec,
    dom_id: '#reference',
    presets: [SwaggerUIBundle.presets.apis],
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    showExtensions: true,
    tryItOutEnabled: true,
    // By default the package has another host check the document.
    validatorUrl: null,
  });
}
