FROM python:3.11-slim

RUN useradd --create-home --uid 1000 user
USER user
WORKDIR /home/user/app
ENV PATH=/home/user/.local/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    GRADIO_SERVER_NAME=0.0.0.0 \
    GRADIO_SERVER_PORT=7860

COPY --chown=user requirements.txt .
RUN pip install --user -r requirements.txt
COPY --chown=user . .
RUN python -m sbd_core fetch

EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD python -c "import urllib.request as r; r.urlopen('http://127.0.0.1:7860/', timeout=4)"
CMD ["python", "app.py"]
