<?xml version="1.0" encoding="UTF-8"?>
<xsl:stylesheet version="1.0"
  xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
  xmlns:sitemap="http://www.sitemaps.org/schemas/sitemap/0.9"
  exclude-result-prefixes="sitemap">
  <xsl:output method="html" encoding="UTF-8" indent="yes"/>
  <xsl:variable name="tells-changes" select="count(/sitemap:sitemapindex/sitemap:sitemap/sitemap:lastmod)"/>
  <xsl:template match="/">
    <html lang="en">
      <head>
        <title>Sitemap</title>
        <style>
          body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem; }
          table { border-collapse: collapse; width: 100%; }
          th, td { border-bottom: 1px solid #c9cdd3; padding: 0.4rem; text-align: left; }
        </style>
      </head>
      <body>
        <div>
          <div>
            <h1>Sitemap</h1>
            <p>These lists of addresses are for search engines.</p>
            <p><a href="https://www.sitemaps.org/">How sitemaps work</a></p>
          </div>
          <div>
            <p><xsl:value-of select="count(/sitemap:sitemapindex/sitemap:sitemap)"/> lists</p>
            <table>
              <thead>
                <tr>
                  <th scope="col">List</th>
                  <xsl:if test="$tells-changes"><th scope="col">Last change</th></xsl:if>
                </tr>
              </thead>
              <tbody>
                <xsl:for-each select="/sitemap:sitemapindex/sitemap:sitemap">
                  <tr>
                    <td><a href="{sitemap:loc}"><xsl:value-of select="sitemap:loc"/></a></td>
                    <xsl:if test="$tells-changes"><td><xsl:value-of select="sitemap:lastmod"/></td></xsl:if>
                  </tr>
                </xsl:for-each>
              </tbody>
            </table>
          </div>
        </div>
      </body>
    </html>
  </xsl:template>
</xsl:stylesheet>
